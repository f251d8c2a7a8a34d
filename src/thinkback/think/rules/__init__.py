"""Thoughts without a model: a gate, two tables of rules, and a reader for each language."""

from thinkback.think.rules.generator import RuleGenerator

__all__ = ["RuleGenerator"]
