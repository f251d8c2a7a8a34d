"""TiM's tables 2 (three data sets), 3 (consultation) and 4 (retrieval time)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from thinkback_lab.runs.finished import Finished
from thinkback_lab.tables import paper
from thinkback_lab.tables.sheet import (
    NONE,
    OURS,
    PAPER,
    Row,
    Sheet,
    correctness,
    figure,
    llm_of,
    notes_for,
    unjudged,
)

_MEMORIES = {"none": "X", "memorybank": "Silicon", "thinkback": "Ours"}  # the paper's names
_COMPARED = {
    "GVD": ("memorybank", "thinkback"),
    "Kdconv": ("none", "thinkback"),
    "RMD": ("none", "thinkback"),
}
_CHOICES = {
    ("GVD", "Open-EN"): "gvd --lang en",
    ("GVD", "Open-CN"): "gvd --lang cn",
    ("Kdconv", "Film-CN"): "kdconv",
    ("Kdconv", "Music-CN"): "kdconv",
    ("Kdconv", "Travel-CN"): "kdconv",
    ("RMD", "Medical-CN"): "medical --corpus cmtmedqa",
}
Place = tuple[str, str]  # (data set, topic) of table 2
Figures = Mapping[str, float]


def tim_2(runs: Sequence[Finished]) -> Sheet:
    """Retrieval accuracy is hit@5, for the paper recalls five thoughts."""
    found: dict[Place, list[tuple[Finished, Figures]]] = {}
    for run in runs:
        for place, figures in _places(run):
            found.setdefault(place, []).append((run, figures))
    rows: list[Row] = []
    missing: dict[tuple[str, str, str], list[str]] = {}  # the command fills these topics
    for place, printed in paper.TIM_2.items():
        dataset, topic = place
        if dataset != "RMD":  # private: no run of ours is on it
            rows += [Row((dataset, llm, topic, *rest), PAPER) for llm, *rest in printed]
        there = sorted(found.get(place, []), key=lambda each: (llm_of(each[0]), _rank(each[0].scheme)))
        rows += [_row(dataset, topic, run, figures) for run, figures in there]
        for scheme in _COMPARED[dataset]:
            if scheme not in {run.scheme for run, _ in there}:
                rows.append(Row((_data(dataset), NONE, topic, _memory(scheme), NONE, NONE, NONE), OURS))
                command = f"thinkback-lab eval {_CHOICES[place]} --scheme {scheme} --llm SPEC"
                missing.setdefault((command, dataset, _memory(scheme)), []).append(topic)
    used = [run for each in found.values() for run, _ in each]
    notes = notes_for(
        rows,
        used,
        "the paper's labels are by people, on its own sample of questions; RMD is private, a public corpus "
        "stands in for it, so the paper's figures for RMD are not set beside ours",
    )
    return Sheet(
        name="tim-2",
        title="TiM table 2: comparison on three data sets, five thoughts recalled",
        columns=("Dataset", "LLM", "Topic", "Memory", "Retrieval", "Correctness", "Coherence"),
        rows=tuple(rows),
        notes=notes,
        missing=(
            *(
                f"{dataset} {', '.join(topics)}, {memory}: {command}"
                for (command, dataset, memory), topics in missing.items()
            ),
            *unjudged([run for run in used if run.scheme in _MEMORIES]),
        ),
        words=4,
    )


def _places(run: Finished) -> Iterator[tuple[Place, Figures]]:
    """Where in the table a run belongs; one over several domains of KdConv is in several places."""
    if run.dataset == "gvd":
        yield ("GVD", "Open-EN" if run.settings.get("lang", "en") == "en" else "Open-CN"), run.metrics
    elif run.dataset == "kdconv":
        by_domain = run.results.get("by_category", {})
        for domain in ("film", "music", "travel"):
            if domain in by_domain:  # of one domain alone, the run's own figures, a judge's among them
                figures = run.metrics if len(by_domain) == 1 else by_domain[domain]
                yield ("Kdconv", f"{domain.capitalize()}-CN"), figures
    elif run.dataset == "medical" and run.settings.get("corpus", "cmtmedqa") == "cmtmedqa":
        yield ("RMD", "Medical-CN"), run.metrics


def _row(dataset: str, topic: str, run: Finished, figures: Figures) -> Row:
    retrieval = NONE if run.scheme == "none" else figure(figures, "hit@5")
    cells = (retrieval, correctness(figures), figure(figures, "judge_coherence"))
    return Row((_data(dataset), llm_of(run), topic, _memory(run.scheme), *cells), OURS)


def _data(dataset: str) -> str:
    return "cmtmedqa (for RMD)" if dataset == "RMD" else dataset


def _memory(scheme: str) -> str:
    return f"{_MEMORIES[scheme]} ({scheme})" if scheme in _MEMORIES else scheme


def _rank(scheme: str) -> tuple[int, str]:
    """The paper's order: no memory, SiliconFriend, others, ours last."""
    order = {"none": 0, "memorybank": 1, "thinkback": 3}
    return order.get(scheme, 2), scheme


def tim_3(runs: Sequence[Finished]) -> Sheet:
    """Models are columns, as in the paper: its own six, then ours."""
    consulted = [run for run in runs if run.dataset == "consult"]
    models = list(dict.fromkeys(map(llm_of, consulted)))
    by_place = {(_case_memory(run.scheme), llm_of(run)): run for run in consulted}
    others = sorted({memory for memory, _ in by_place} - {"No", "Raw", "TiM"})
    rows = []
    for task in ("Diagnosis", "Treatment"):
        for memory in ("No", "Raw", "TiM", *others):
            printed = paper.TIM_3.get((task, memory), (NONE,) * len(paper.TIM_3_MODELS))
            ours = [figure(by_place.get((memory, model)), task.lower(), percent=True) for model in models]
            rows.append(Row((task, memory, *printed, *ours), f"{PAPER}, {OURS}" if models else PAPER))
    return Sheet(
        name="tim-3",
        title="TiM table 3: simulated medical consultation, accuracy in percent",
        columns=("Accuracy", "Memory", *paper.TIM_3_MODELS, *(f"{model} ({OURS})" for model in models)),
        rows=tuple(rows),
        notes=("the paper's patients are private, so compare rows, not columns",) if models else (),
        missing=() if consulted else ("ours: the laboratory does not simulate consultations yet",),
        words=2,
    )


def _case_memory(scheme: str) -> str:
    return {"none": "No", "raw": "Raw"}.get(scheme, "TiM" if scheme.startswith("tim") else scheme)


_WAYS = {
    "python": "Baseline (Python loop)",
    "pairwise": "Baseline (numpy)",
    "group": "TiM's group alone (numpy)",
    "tim": "thinkback, preset tim",
    "hybrid": "thinkback, preset hybrid",
}


def tim_4(runs: Sequence[Finished]) -> Sheet:
    """Milliseconds differ between machines: what compares is the ratio to the baseline of the same run."""
    timings = [run for run in runs if run.dataset == "timing"]
    base = float(paper.TIM_4[0][1])
    memories = str(paper.TIM_4_MEMORIES)
    rows = [Row((name, memories, ms, f"{float(ms) / base:.3f}"), PAPER) for name, ms in paper.TIM_4]
    for run in timings:
        for each in run.results.get("by_category", {}).values():
            rows += [
                Row(
                    (
                        _WAYS[way],
                        f"{each['n']}",
                        f"{each[f'{way}_ms']:.4f}",
                        f"{each.get(f'{way}_ratio', 1):.3f}",
                    ),
                    OURS,
                )
                for way in _WAYS
                if f"{way}_ms" in each
            ]
    return Sheet(
        name="tim-4",
        title="TiM table 4: time of one retrieval against pairwise similarity",
        columns=("Method", "Memories", "Retrieval Time (ms)", "to baseline"),
        rows=tuple(rows),
        notes=("machines differ: compare within a run, by the ratio to its own baseline",),
        missing=() if timings else ("ours: thinkback-lab eval timing --n 140 --n 1000 --out DIR",),
    )
