"""`thinkback-lab record`."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Any

import typer

from thinkback_lab.commands import options
from thinkback_lab.recorded.folder import Recordings, read_status
from thinkback_lab.recorded.server import MAX_PORT, RecordedServer


def record(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Folder with replies/*.jsonl; pending/ is written there.")
    ],
    host: Annotated[str, typer.Option("--host", metavar="HOST", help="Address to listen at.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", metavar="PORT", min=0, max=MAX_PORT, help="Port; 0 takes a free one.")
    ] = 8900,
    model: Annotated[
        str, typer.Option("--model", metavar="NAME", help="Model name in /v1/models and in answers.")
    ] = "recorded",
    status: Annotated[
        bool,
        typer.Option("--status", help="Serve nothing; count replies, pending prompts and unused replies."),
    ] = False,
    as_json: options.JsonOption = False,
) -> None:
    """Serve the OpenAI chat API from recorded replies, and write each prompt without a reply to a folder.

    A line of FOLDER/replies/*.jsonl is {"key": "...", "reply": text or object}. A prompt that has no reply is
    written to FOLDER/pending/KEY.json as {"key", "messages", "schema"} and answered with status 424 and the
    error code reply_not_recorded. Answer it with any model or by hand, add the reply to a file in
    FOLDER/replies, and start again. Any model name is accepted; a reply depends on the messages only.

    Ctrl-C stops the server; the counts of answered and missing prompts are printed then. There is no
    authentication: listen at loopback addresses only, unless the network is trusted. Evaluations need no
    server: `--llm recorded:FOLDER` reads the same folder.

    \b
    Examples:
      thinkback-lab record recordings/chat
      OPENAI_BASE_URL=http://127.0.0.1:8900/v1 thinkback chat --llm openai:recorded
      thinkback-lab record recordings/chat --status --json | jq '.pending_keys[]'
      thinkback-lab eval scenarios scenarios/ --llm recorded:recordings/scenarios
    """
    with options.exit_on_error():
        if status:
            _print_status(folder, as_json)
            return
        recordings = Recordings(folder)
        with RecordedServer(recordings, host=host, port=port, model=model) as server, _stop_on_signals():
            if not _is_loopback(host):
                sys.stderr.write(
                    f"warning: {host} is not a loopback address, and there is no authentication\n"
                )
            sys.stderr.write(f"{len(recordings)} recorded replies at {server.url}; Ctrl-C stops\n")
            sys.stderr.flush()
            server.serve_forever()
    summary = {
        "folder": str(folder),
        "replies": len(recordings),
        "answered": recordings.answered,
        "missing": recordings.missing,
    }
    if as_json:
        options.print_json(summary)
    else:
        sys.stdout.write(_summary_line(folder, summary))


def _print_status(folder: Path, as_json: bool) -> None:
    found = read_status(folder)
    if as_json:
        keys = asdict(found)
        counts = {name: len(each) for name, each in keys.items()}
        lists = {"pending_keys": keys["pending"], "unused_keys": keys["unused"]}
        options.print_json({"folder": str(folder), **counts, **lists})
        return
    sys.stdout.write(
        f"{folder}: {len(found.replies)} replies, {len(found.unused)} of them unused; "
        f"{len(found.pending)} pending prompts\n"
    )


def _summary_line(folder: Path, summary: dict[str, Any]) -> str:
    line = f"{summary['answered']} prompts answered, {summary['missing']} missing"
    return line + (f": see {folder / 'pending'}\n" if summary["missing"] else "\n")


@contextmanager
def _stop_on_signals() -> Iterator[None]:
    """End the block on Ctrl-C and on SIGTERM; shells start background jobs with Ctrl-C ignored."""
    stopping = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(number, signal.default_int_handler) for number in stopping]
    try:
        with suppress(KeyboardInterrupt):
            yield
    finally:
        for number, handler in zip(stopping, before, strict=True):
            signal.signal(number, handler)


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
