"""The laboratory uses the public API of thinkback; modules that measure or replace a component are listed."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import thinkback
import thinkback_lab

ROOT = Path(thinkback_lab.__file__).parent

# module -> the internal modules of thinkback that it may import
COMPONENTS: dict[str, set[str]] = {
    # the option --ray, which is the same for all commands, and the cluster behind it
    "cli.py": {"cli.cluster"},
    "commands/evaluate.py": {"cli.cluster"},
    "commands/suite_cluster.py": {"bulk.cluster"},
    # the language of an answer, and which of its words were never told
    "evaluations/chats.py": {"language.writing_systems", "recall.chat_phrases", "recall.grounding"},
    # the check of answers alone, without a chat
    "evaluations/contradictions.py": {"language.sentences", "recall.consistency", "types"},
    # which passages of a turn a thought quotes
    "evaluations/lives.py": {"types"},
    # gold facts in place of post-think, written as plans
    "evaluations/lives_gold.py": {"indexing", "presets", "think.leases", "types"},
    # the terms that a thought and a gold fact share
    "evaluations/lives_scoring.py": {"language.tokens"},
    # the embedders that are compared
    "commands/embedders.py": {"embedders.registry"},
    # the features of the score, whose weights are learned
    "training/ranking.py": {"presets", "recall.features", "recall.query", "recall.rows", "types"},
    # the marks of quotations and redactions, and what the detector says of ordinary talk
    "evaluations/safety.py": {
        "language.safety.quarantine",
        "language.safety.scan",
        "language.safety.windows",
    },
    # single sentences of lives as training examples, and the vectors of the network
    "training/message_classifier.py": {
        "language.sentences",
        "network.cross_encoder",
        "recall.message_classifier",
    },
    "training/question_classifier.py": {"network.cross_encoder"},
    "training/request_classifier.py": {"network.cross_encoder"},
    "commands/train.py": {"network.cross_encoder"},
    # the candidates and features of the scores of values
    "training/access_values.py": {
        "language.safety.access_values",
        "language.safety.detector",
        "language.safety.normalise",
        "language.safety.secret_detection",
    },
    # the cross-encoder: its limits and files, its scores, and the threshold of its preset
    "commands/reranker.py": {"network.cross_encoder"},
    "evaluations/reranker.py": {"presets", "network.cross_encoder"},
    "training/reranker.py": {"network.cross_encoder"},
    # the thoughts that a recalled item states
    "systems/thinkback.py": {"types"},
    # the patterns that the trained detector stands beside
    "training/safety_detector.py": {
        "language.safety.detector",
        "language.safety.detector_features",
        "language.safety.injection",
        "language.safety.normalise",
        "language.safety.secret_detection",
    },
    "training/safety_network.py": {
        "language.safety.access_values",
        "language.safety.detector",
        "language.safety.network_detector",
        "language.safety.normalise",
        "language.safety.secret_detection",
        "network.cross_encoder",
    },
    "commands/train_safety_network.py": {"network.cross_encoder"},
    # the marks of the tuned model: their training examples and scores, and adapters for it
    "evaluations/updates.py": {"think.update_form"},
    "training/update_examples.py": {
        "embedders.registry",
        "network.cross_encoder",
        "think.contract",
        "think.reader_updates",
        "think.readers",
        "think.update_form",
        "types",
    },
    "training/lora_export.py": {"llms.adapters", "llms.gguf_header"},
}


def internal_imports(path: Path) -> set[str]:
    """Internal modules of thinkback that a module imports; from the root, only public names."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names if alias.name.startswith("thinkback."))
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            assert node.level == 0, "imports are absolute"
            if module.startswith("thinkback."):
                found.add(module)
            if module == "thinkback":
                assert {alias.name for alias in node.names} <= set(thinkback.__all__)
    return {name.removeprefix("thinkback.") for name in found}


@pytest.mark.parametrize(
    "path", sorted(ROOT.rglob("*.py")), ids=lambda path: path.relative_to(ROOT).as_posix()
)
def test_module_imports_only_public_names(path: Path) -> None:
    assert internal_imports(path) == COMPONENTS.get(path.relative_to(ROOT).as_posix(), set())


def test_exceptions_exist() -> None:
    assert all((ROOT / name).is_file() for name in COMPONENTS)
