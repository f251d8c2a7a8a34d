"""`recall`, `ask`, `why`: what matters for a question, what that answers, and where it comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from thinkback.apps.cli.command import Call, command
from thinkback.apps.cli.options import STDIN, AsOf, KnownAt, read_stdin

if TYPE_CHECKING:
    from collections.abc import Iterable

    from thinkback.types import Candidate, Why


def register(app: typer.Typer) -> None:
    command(app, "embedder", "preset")(recall)
    command(app, "llm", "embedder", "preset")(ask)
    command(app, "embedder")(why)


def recall(
    call: Call,
    query: Annotated[
        str, typer.Argument(metavar="QUERY", help="What you want to know; - reads it from standard input.")
    ],
    k: Annotated[int, typer.Option("--k", "-k", metavar="N", help="At most so many memories.")] = 5,
    budget: Annotated[
        int | None,
        typer.Option("--budget", metavar="TOKENS", min=1, help="At most so many tokens of text in all."),
    ] = None,
    as_of: AsOf = None,
    known_at: KnownAt = None,
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
    from thinkback.apps import values
    from thinkback.apps.cli import printing

    with call.memory() as memory:
        found = memory.recall(
            read_stdin() if query == STDIN else query,
            k=k,
            as_of=as_of,
            known_at=known_at,
            explain=why or call.json,
            budget=budget,
        )
        explained = memory.why(found) if why else None
    if call.json:
        shown = values.recollection(found)
        printing.print_json(shown if why else {**shown, "dropped": []})
    elif explained is not None:
        _print_lines(explained)
        printing.note(", ".join(f"{stage} {ms:.1f} ms" for stage, ms in found.receipt.ms.items()))
    elif found.items:
        _print_candidates(found)
    else:
        printing.say("nothing is remembered about that")


def ask(
    call: Call,
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
    from thinkback.apps import values
    from thinkback.apps.cli import printing

    with call.memory(thinks=True) as memory:
        made = memory.synthesise(read_stdin() if question == STDIN else question, k=k, max_words=max_words)
    if made.note:
        printing.note(f"answered by rules: {made.note}")
    if call.json:
        printing.print_json(values.synthesis(made))
        return
    printing.say(made.text)
    texts = {item.ref: item for item in made.recollection}
    for number, ref in enumerate(made.used, start=1):
        printing.say(f"  [{number}] {ref} {printing.one_line(texts[ref].text)}", "dim")


def why(
    call: Call,
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
    from thinkback.apps import values
    from thinkback.apps.cli import printing

    with call.memory() as memory:
        explained = memory.why(what)
    if call.json:
        printing.print_json(values.why(explained))
        return
    _print_lines(explained)


def _print_lines(explained: Why) -> None:
    """The first line is what is explained; the others below it, further in as they are."""
    from thinkback.apps.cli import printing

    first, *rest = explained.lines
    printing.say(printing.one_line(first, limit=2000), "bold")
    for line in rest:
        within = " " * (len(line) - len(line.lstrip(" ")))
        printing.say(f"  {within}{printing.one_line(line, limit=2000)}")


def _print_candidates(items: Iterable[Candidate]) -> None:
    from thinkback.apps import values
    from thinkback.apps.cli import printing

    rows = [
        (rank, item.ref, item.text, values.kind(item), f"{item.score.total:.2f}", item.reason)
        for rank, item in enumerate(items, start=1)
    ]
    printing.table(("#", "ref", "memory", "kind", "score", "reason"), rows, wide=("memory", "reason"))
