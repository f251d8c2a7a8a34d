"""Commands `recall` (search), `ask` (answer from memory) and `why` (explain a thought or an answer)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from thinkback.cli import output
from thinkback.cli.command import (
    STDIO_MARKER,
    AsOfOption,
    CommandCall,
    KnownAtOption,
    read_stdin,
    register_command,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from thinkback.types import Candidate, Explanation


def register(app: typer.Typer) -> None:
    register_command(app, "embedder", "preset")(recall)
    register_command(app, "llm", "embedder", "preset")(ask)
    register_command(app, "embedder")(why)


def recall(
    call: CommandCall,
    query: Annotated[
        str, typer.Argument(metavar="QUERY", help="The question; - reads it from standard input.")
    ],
    k: Annotated[int, typer.Option("--k", "-k", metavar="N", help="Return at most N memories.")] = 5,
    budget: Annotated[
        int | None,
        typer.Option("--budget", metavar="TOKENS", min=1, help="Limit the total text to this many tokens."),
    ] = None,
    as_of: AsOfOption = None,
    known_at: KnownAtOption = None,
    why: Annotated[
        bool,
        typer.Option(
            "--why",
            "--explain",
            help="Explain how the question was understood, every score, and what was dropped.",
        ),
    ] = False,
) -> None:
    """Find the memories that are relevant to a question, each with the reason.

    A memory is a thought (an extracted fact) or, where no thought suffices, a raw turn.

    \b
    Presets:
      hybrid    semantic, lexical and time scores combined (the default)
      careful   like hybrid, then reads the best with the question; slower
      fading    like hybrid, but memories not recalled for long rank lower
      tim       Think-in-Memory: semantic similarity within the question's group
      fuzzy     40% keywords, 40% shared words, 20% time of day; at most five
      perltqa   PerLTQA: lexical score, then the kind of memory asked for
      bm25      lexical score only
      dense     semantic similarity only, over all memories

    \b
    Examples:
      thinkback recall "Where do I live?"
      thinkback recall "Where did I live?" --as-of 2023-01-01
      thinkback recall "Where does my sister work?" --why
      thinkback recall "Where do I live?" --known-at 2024-06-01
      thinkback recall "Where do I live?" --preset bm25 --explain
      thinkback recall "我住在哪里？" -k 1 --json
      thinkback recall "What did we plan for the trip?" -k 20 --budget 300
    """
    from thinkback.schemas import to_json

    with call.open_memory() as memory:
        recollection = memory.recall(
            read_stdin() if query == STDIO_MARKER else query,
            k=k,
            as_of=as_of,
            known_at=known_at,
            explain=why or call.json,
            budget=budget,
        )
        explanation = memory.why(recollection) if why else None
    if call.json:
        result = to_json(recollection)
        output.print_json(result if why else {**result, "dropped": []})
    elif explanation is not None:
        _print_explanation(explanation)
        output.print_note(", ".join(f"{stage} {ms:.1f} ms" for stage, ms in recollection.usage.ms.items()))
    elif recollection.items:
        _print_candidates(recollection)
    else:
        output.print_line("no relevant memories")


def ask(
    call: CommandCall,
    question: Annotated[
        str, typer.Argument(metavar="QUESTION", help="The question; - reads it from standard input.")
    ],
    k: Annotated[int, typer.Option("--k", "-k", metavar="N", help="Recall at most N memories.")] = 5,
    max_words: Annotated[
        int, typer.Option("--max-words", metavar="N", help="Maximum words (in Chinese: characters).")
    ] = 50,
) -> None:
    """Answer one question from memory, with citations. The question is not stored.

    A language model writes the answer if one is configured; otherwise the answer consists of the recalled
    sentences. If the memory does not contain the answer, the command says so.

    \b
    Examples:
      thinkback ask "What does my sister do?"
      thinkback ask "我妹妹是做什么的？" --llm none --json
    """
    from thinkback.schemas import to_json

    with call.open_memory(with_llm=True) as memory:
        answer = memory.synthesise(
            read_stdin() if question == STDIO_MARKER else question, k=k, max_words=max_words
        )
    if answer.note:
        output.print_note(f"answered by rules: {answer.note}")
    if call.json:
        output.print_json(to_json(answer))
        return
    output.print_line(answer.text)
    memories = {item.ref: item for item in answer.recollection}
    for number, ref in enumerate(answer.used, start=1):
        output.print_line(f"  [{number}] {ref} {output.one_line(memories[ref].text)}", "dim")


def why(
    call: CommandCall,
    what: Annotated[
        str, typer.Argument(metavar="WHAT", help="A thought (thought:7, or just 7) or an answer (turn:3).")
    ],
) -> None:
    """Explain a thought or an answer: its source and history, or the memories recalled for it.

    \b
    Examples:
      thinkback why thought:7
      thinkback why turn:3
    """
    from thinkback.schemas import to_json

    with call.open_memory() as memory:
        explanation = memory.why(what)
    if call.json:
        output.print_json(to_json(explanation))
        return
    _print_explanation(explanation)


def _print_explanation(explanation: Explanation) -> None:
    """Print the first line as a heading and the others below it, keeping their indentation."""
    heading, *details = explanation.lines
    output.print_line(output.one_line(heading, limit=2000), "bold")
    for line in details:
        indent = " " * (len(line) - len(line.lstrip(" ")))
        output.print_line(f"  {indent}{output.one_line(line, limit=2000)}")


def _print_candidates(items: Iterable[Candidate]) -> None:

    rows = [
        (rank, item.ref, item.text, item.kind, f"{item.score.total:.2f}", item.reason)
        for rank, item in enumerate(items, start=1)
    ]
    output.print_table(("#", "ref", "memory", "kind", "score", "reason"), rows, fold=("memory", "reason"))
