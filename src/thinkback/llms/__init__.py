"""Llms."""
