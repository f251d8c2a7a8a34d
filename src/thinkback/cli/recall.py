"""`recall`, `ask`, `why`: what matters for a question, what that answers, and where it comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

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
        str, typer.Argument(metavar="QUERY", help="What you want to know; - reads it from standard input.")
    ],
    k: Annotated[int, typer.Option("--k", "-k", metavar="N", help="At most so many memories.")] = 5,
    budget: Annotated[
        int | None,
        typer.Option("--budget", metavar="TOKENS", min=1, help="At most so many tokens of text in all."),
    ] = None,
    as_of: AsOfOption = None,
    known_at: KnownAtOption = None,
    why: Annotated[
        bool,
        typer.Option(
            "--why",
            "--explain",
            help="Explain it: what the question was taken for, every score, and what was dropped.",
        ),
    ] = False,
) -> None:
    """Find the few memories that matter for a question, each with its reason.

    A thought says what was understood; a turn is shown as it was said, where no thought suffices.

    \b
    Presets:
      hybrid    meaning, words and time, by how far they stand out (the default)
      fading    the same, and what was not recalled for long ranks lower
      tim       Think-in-Memory: meaning alone, in the question's own group
      fuzzy     40% keywords, 40% shared words, 20% time of a day; five at most
      perltqa   words, then which kind of memory the question asks for
      bm25      words alone
      dense     meaning alone, everywhere

    \b
    Examples:
      thinkback recall "Where do I live?"
      thinkback recall "Where did I live?" --as-of 2023-01-01
      thinkback recall "Where does my sister work?" --why
      thinkback recall "Where do I live?" --known-at 2024-06-01   what it would have said then
      thinkback recall "Where do I live?" --preset bm25 --explain   what words alone would find
      thinkback recall "我住在哪里？" -k 1 --json
      thinkback recall "What did we say of the trip?" -k 20 --budget 300   what fits into a prompt
    """
    from thinkback import json_output
    from thinkback.cli import output

    with call.open_memory() as memory:
        found = memory.recall(
            read_stdin() if query == STDIO_MARKER else query,
            k=k,
            as_of=as_of,
            known_at=known_at,
            explain=why or call.json,
            budget=budget,
        )
        explained = memory.why(found) if why else None
    if call.json:
        shown = json_output.dump_recollection(found)
        output.print_json(shown if why else {**shown, "dropped": []})
    elif explained is not None:
        _print_explanation(explained)
        output.print_note(", ".join(f"{stage} {ms:.1f} ms" for stage, ms in found.usage.ms.items()))
    elif found.items:
        _print_candidates(found)
    else:
        output.print_line("nothing is remembered about that")


def ask(
    call: CommandCall,
    question: Annotated[
        str, typer.Argument(metavar="QUESTION", help="What you want to know; - reads it from standard input.")
    ],
    k: Annotated[int, typer.Option("--k", "-k", metavar="N", help="Recall at most so many memories.")] = 5,
    max_words: Annotated[
        int, typer.Option("--max-words", metavar="N", help="Answer in at most so many (Chinese: characters).")
    ] = 50,
) -> None:
    """Answer one question from memory, briefly, each fact cited; nothing is remembered of it.

    A language model words the answer where one is configured, else the memories' own sentences answer. What
    memory does not tell is said to be unknown.

    \b
    Examples:
      thinkback ask "What does my sister do?"
      thinkback ask "我妹妹是做什么的？" --llm none --json
    """
    from thinkback import json_output
    from thinkback.cli import output

    with call.open_memory(with_llm=True) as memory:
        made = memory.synthesise(
            read_stdin() if question == STDIO_MARKER else question, k=k, max_words=max_words
        )
    if made.note:
        output.print_note(f"answered by rules: {made.note}")
    if call.json:
        output.print_json(json_output.dump_synthesis(made))
        return
    output.print_line(made.text)
    texts = {item.ref: item for item in made.recollection}
    for number, ref in enumerate(made.used, start=1):
        output.print_line(f"  [{number}] {ref} {output.one_line(texts[ref].text)}", "dim")


def why(
    call: CommandCall,
    what: Annotated[
        str, typer.Argument(metavar="WHAT", help="thought:7 (or 7 alone), or the turn of an answer: turn:3.")
    ],
) -> None:
    """Explain a thought (who said it when, what became of it) or an answer (what was recalled for it).

    \b
    Examples:
      thinkback why thought:7
      thinkback why turn:3
    """
    from thinkback import json_output
    from thinkback.cli import output

    with call.open_memory() as memory:
        explained = memory.why(what)
    if call.json:
        output.print_json(json_output.dump_explanation(explained))
        return
    _print_explanation(explained)


def _print_explanation(explained: Explanation) -> None:
    """The first line is what is explained; the others below it, further in as they are."""
    from thinkback.cli import output

    first, *rest = explained.lines
    output.print_line(output.one_line(first, limit=2000), "bold")
    for line in rest:
        within = " " * (len(line) - len(line.lstrip(" ")))
        output.print_line(f"  {within}{output.one_line(line, limit=2000)}")


def _print_candidates(items: Iterable[Candidate]) -> None:
    from thinkback import json_output
    from thinkback.cli import output

    rows = [
        (rank, item.ref, item.text, json_output.candidate_kind(item), f"{item.score.total:.2f}", item.reason)
        for rank, item in enumerate(items, start=1)
    ]
    output.print_table(("#", "ref", "memory", "kind", "score", "reason"), rows, fold=("memory", "reason"))
