"""Recorded replies: keys, folder, LLM, HTTP server, command, and an evaluation on a committed recording."""

from __future__ import annotations

import http.client
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import openai
import pytest
from pydantic import BaseModel
from typer.testing import CliRunner, Result

from thinkback import LLM, Message, ModelError, Reply
from thinkback.errors import ModelRefused
from thinkback.llms.openai import OpenAILLM
from thinkback_lab.cli import app
from thinkback_lab.errors import LabError
from thinkback_lab.llms import complete_with_retry, open_llm
from thinkback_lab.reader import LLMReader
from thinkback_lab.recorded import server as server_module
from thinkback_lab.recorded.folder import (
    IncompleteRecording,
    MissingReply,
    Prompt,
    Recordings,
    UnusableReply,
    read_replies,
    read_status,
)
from thinkback_lab.recorded.llm import RecordedLLM, require_all_replies
from thinkback_lab.recorded.server import RecordedServer
from thinkback_lab.text import count_tokens

FIXTURES = Path(__file__).parent / "fixtures"
TURNS = [{"at": "2024-01-01T09:00:00Z", "user": "I live in Lyon.", "assistant": "Noted."}]
SECRET = "the zebra sleeps at noon"  # must occur in no log

ASK = [Message("system", "Be brief."), Message("user", "你好, where is the Eiffel tower? 🗼")]
CHAT: list[Any] = [{"role": message.role, "content": message.content} for message in ASK]
SAID = "In  Paris,\nnear the Seine. 在巴黎。"


class City(BaseModel):
    """The schema of the replies in these tests."""

    city: str
    known: bool


SCHEMA = City.model_json_schema()
OBJECT = {"city": "巴黎", "known": True}


def write_replies(folder: Path, *rows: object, name: str = "a") -> Path:
    (folder / "replies").mkdir(parents=True, exist_ok=True)
    lines = (row if isinstance(row, str) else json.dumps(row, ensure_ascii=False) for row in rows)
    (folder / "replies" / f"{name}.jsonl").write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return folder


def row(prompt: Prompt, reply: object) -> dict[str, object]:
    return {"key": prompt.key, "reply": reply}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_replies(
        tmp_path / "recording",
        row(Prompt.from_messages(ASK), SAID),
        row(Prompt.from_messages(ASK, SCHEMA), OBJECT) | {"by": "a careful reader"},
    )


@contextmanager
def serving(folder: Path, model: str = "recorded") -> Iterator[RecordedServer]:
    with RecordedServer(Recordings(folder), host="127.0.0.1", port=0, model=model) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def openai_client(server: RecordedServer) -> Iterator[openai.OpenAI]:
    """A client with the library's usual retries."""
    with openai.OpenAI(base_url=server.url, api_key="none", timeout=10) as client:
        yield client


@contextmanager
def thinkback_client(server: RecordedServer, pauses: list[float]) -> Iterator[OpenAILLM]:
    llm = OpenAILLM("recorded", base_url=server.url, api_key="none", timeout=10, sleep=pauses.append)
    try:
        yield llm
    finally:
        llm.close()


def lab(*words: object) -> Result:
    return CliRunner().invoke(app, [*map(str, words)], prog_name="thinkback-lab")


def pending(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(path.read_text("utf-8")) for path in sorted((folder / "pending").iterdir())]


# --- keys -------------------------------------------------------------------------------------


def test_the_key_is_the_same_in_every_process_and_version() -> None:
    assert Prompt.from_messages([Message("user", "Hello 你好")]).key == "3f28342c053cc25c"
    assert Prompt.from_messages([Message("user", "Hello 你好")], SCHEMA).key == "1a7d210d77d1891c"


def test_the_key_depends_on_messages_and_schema_name_only() -> None:
    whole = {"model": "m", "messages": CHAT, "temperature": 0.7, "stream": True, "max_tokens": 9, "seed": 1}
    key = Prompt.from_messages(ASK).key
    assert Prompt.from_request(whole).key == Prompt.from_request({"messages": CHAT}).key == key
    with_nulls = [{"name": None, **message} for message in reversed(CHAT)]
    assert Prompt.from_request({"messages": with_nulls[::-1]}).key == key
    assert Prompt.from_request({"messages": CHAT[::-1]}).key != key
    other_schema = {**SCHEMA, "description": "changed", "properties": {}}
    assert Prompt.from_messages(ASK, other_schema).key == Prompt.from_messages(ASK, SCHEMA).key != key
    assert Prompt.from_messages(ASK, {**SCHEMA, "title": "Town"}).key != Prompt.from_messages(ASK, SCHEMA).key


@pytest.mark.parametrize("schema", [SCHEMA, {"type": "object", "properties": {}}])
def test_the_key_of_a_schema_is_the_same_in_process_and_over_http(schema: dict[str, Any]) -> None:
    declared = {"name": "reply", "schema": schema, "strict": False}  # as thinkback's client sends it
    body = {"messages": CHAT, "response_format": {"type": "json_schema", "json_schema": declared}}
    assert Prompt.from_request(body).key == Prompt.from_messages(ASK, schema).key


def test_the_name_of_a_request_counts_for_a_schema_without_title() -> None:
    def key(name: object) -> str:
        declared = {"name": name, "schema": {"type": "object"}}
        body = {"messages": CHAT, "response_format": {"type": "json_schema", "json_schema": declared}}
        return Prompt.from_request(body).key

    assert key("town") != key("city")
    assert key(7) == key("reply")


def test_lone_surrogates_have_a_key() -> None:
    lone, replaced = Message("user", "a \ud83d b"), Message("user", "a \ufffd b")
    assert Prompt.from_messages([lone]).key == Prompt.from_messages([replaced]).key
    pair = Message("user", "\ud83d\ude00")
    assert Prompt.from_messages([pair]).key == Prompt.from_messages([Message("user", "😀")]).key


# --- the folder -------------------------------------------------------------------------------


def test_an_absent_folder_is_an_error_and_an_empty_one_is_not(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="mkdir -p"):
        read_replies(tmp_path / "absent")
    assert read_replies(tmp_path) == {}
    (tmp_path / "replies").write_text("", "utf-8")
    with pytest.raises(LabError, match="must be a folder"):
        read_replies(tmp_path)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "not JSON"),
        ("[]", "valid dictionary"),
        ('{"reply": "a"}', "key: Field required"),
        ('{"key": "0123456789abcdef"}', "reply: Field required"),
        ('{"key": "../../../etc/abc", "reply": "a"}', "key: String should match"),
        ('{"key": "0123456789abcdef", "reply": ["a"]}', "reply"),
        ('{"key": "0123456789abcdef", "reply": 7}', "reply"),
        ('{"key": "0123456789abcdef", "reply": " "}', "is empty"),
        ("[" * 100_000, "not JSON"),
    ],
)
def test_a_malformed_line_is_an_error_that_names_it(tmp_path: Path, line: str, reason: str) -> None:
    write_replies(tmp_path, {"key": "00" * 8, "reply": "a"}, "", line)
    with pytest.raises(LabError, match=rf"a\.jsonl, line 3: .*{re.escape(reason)}"):
        read_replies(tmp_path)


def test_a_file_that_is_not_utf8_is_an_error(tmp_path: Path) -> None:
    write_replies(tmp_path, "")
    (tmp_path / "replies" / "b.jsonl").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(LabError, match=r"b\.jsonl: not UTF-8"):
        read_replies(tmp_path)


def test_different_replies_to_one_prompt_are_an_error_that_names_the_files(tmp_path: Path) -> None:
    write_replies(tmp_path, {"key": "ab" * 8, "reply": "one"}, name="first")
    write_replies(tmp_path, {"key": "ab" * 8, "reply": "one"}, name="second")
    assert read_replies(tmp_path) == {"ab" * 8: "one"}
    write_replies(tmp_path, "", {"key": "ab" * 8, "reply": "two"}, name="third")
    with pytest.raises(LabError, match=r"abab: \S*first\.jsonl, line 1 and \S*third\.jsonl, line 2"):
        read_replies(tmp_path)


def test_status_counts_replies_pending_and_unused(folder: Path) -> None:
    llm = RecordedLLM(folder)
    llm.complete(ASK)
    llm.complete(ASK)
    question = Message("user", "Where is Lyon?")
    with pytest.raises(MissingReply):
        llm.complete([question])
    status, unused = read_status(folder), Prompt.from_messages(ASK, SCHEMA).key
    missing = Prompt.from_messages([question])
    assert (len(status.replies), status.pending, status.unused) == (2, (missing.key,), (unused,))
    write_replies(folder, row(missing, "In France."), name="b")
    assert read_status(folder).pending == ()
    assert (folder / "pending" / f"{missing.key}.json").exists()
    RecordedLLM(folder).complete([question])
    assert pending(folder) == []
    assert read_status(folder).unused == (unused,)


def test_a_read_only_folder_can_be_used(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    recordings = Recordings(folder)
    monkeypatch.setattr(Path, "open", refuse)
    monkeypatch.setattr(Path, "mkdir", refuse)
    assert recordings.find_reply(Prompt.from_messages(ASK)) == SAID
    with pytest.raises(LabError, match=r"cannot be written to .*Permission denied"):
        recordings.find_reply(Prompt.from_messages(ASK[1:]))


# --- the language model -----------------------------------------------------------------------


def collect(stream: Generator[str, None, Reply]) -> tuple[list[str], Reply]:
    ends: list[Reply] = []

    def read() -> Generator[str, None, None]:
        ends.append((yield from stream))

    return list(read()), ends[0]


def test_it_answers_with_estimated_token_counts(folder: Path) -> None:
    llm: LLM = RecordedLLM(folder)
    assert (llm.name, llm.extracts, llm.follows, llm.speaks, llm.masks) == (
        "recorded:recording",
        True,
        True,
        None,
        False,
    )
    reply = llm.complete(ASK, max_tokens=1, temperature=1.0)
    asked = sum(count_tokens(message.content) for message in ASK)
    assert (reply.text, reply.prompt_tokens, reply.completion_tokens) == (SAID, asked, count_tokens(SAID))
    pieces, streamed = collect(llm.stream(ASK, forbid=["Paris"]))
    assert (len(pieces) > 3, "".join(pieces), streamed) == (True, SAID, reply)
    assert json.loads(llm.complete(ASK, schema=SCHEMA).text) == OBJECT


def test_a_missing_reply_names_the_pending_prompt(folder: Path) -> None:
    llm = RecordedLLM(folder)
    ask = [*ASK, Message("assistant", "In Paris."), Message("user", "And Big Ben?")]
    with pytest.raises(MissingReply, match=r"pending/[0-9a-f]{16}\.json: answer it") as caught:
        llm.complete(ask, schema=SCHEMA)
    assert isinstance(caught.value, ModelError)
    assert isinstance(caught.value, LabError)
    (written,) = pending(folder)
    assert written == {
        "key": caught.value.key,
        "messages": [{"role": message.role, "content": message.content} for message in ask],
        "schema": SCHEMA,
    }
    with pytest.raises(MissingReply):
        list(llm.stream(ask))
    assert [each["schema"] for each in pending(folder)].count(None) == 1


def test_a_text_reply_to_a_schema_must_be_json(tmp_path: Path) -> None:
    prompt = Prompt.from_messages(ASK, SCHEMA)
    assert json.loads(
        RecordedLLM(write_replies(tmp_path / "a", row(prompt, json.dumps(OBJECT))))
        .complete(ASK, schema=SCHEMA)
        .text
    ) == (OBJECT)
    with pytest.raises(UnusableReply, match="record an object"):
        RecordedLLM(write_replies(tmp_path / "b", row(prompt, "Paris"))).complete(ASK, schema=SCHEMA)
    with pytest.raises(LabError, match="without messages"):
        RecordedLLM(tmp_path / "a").complete([])


def test_the_laboratory_does_not_retry_a_missing_reply(folder: Path) -> None:
    pauses: list[float] = []
    with open_llm(f"recorded:{folder}") as llm:
        with pytest.raises(MissingReply):
            complete_with_retry(llm, ASK[1:], max_tokens=9, sleep=pauses.append)
        with pytest.raises(MissingReply):
            LLMReader(llm, sleep=pauses.append).answer("Where?", [], "en")
    assert pauses == []


def test_missing_replies_that_a_caller_handles_are_raised_at_the_end(folder: Path) -> None:
    llm = RecordedLLM(folder)

    def ask(*numbers: int, inner: tuple[int, ...] = ()) -> None:
        """Ask for replies that are missing, and handle the errors as thinkback does."""
        with require_all_replies():
            for number in numbers:
                with suppress(ModelError):
                    llm.complete([Message("user", f"Number {number}?")])
            if inner:
                with suppress(IncompleteRecording):
                    ask(*inner)

    with require_all_replies():
        llm.complete(ASK)
    with pytest.raises(MissingReply):
        ask(1, 1)
    with pytest.raises(IncompleteRecording, match=r"^2 prompts .* written to \S+/pending:"):
        ask(1, 2)
    with pytest.raises(IncompleteRecording, match=r"^3 prompts"):
        ask(1, inner=(2, 3))


# --- the server -------------------------------------------------------------------------------


def test_the_openai_library_is_answered(folder: Path) -> None:
    with serving(folder, "gpt-x") as server, openai_client(server) as client:
        assert [model.id for model in client.models.list()] == ["gpt-x"]
        assert client.models.retrieve("gpt-x").id == "gpt-x"
        with pytest.raises(openai.NotFoundError):
            client.models.retrieve("gpt-y")
        done = client.chat.completions.create(model="any", messages=CHAT)
        assert done.choices[0].message.content == SAID
        assert (done.model, done.choices[0].finish_reason) == ("gpt-x", "stop")
        assert done.usage is not None
        assert done.usage.total_tokens == done.usage.prompt_tokens + count_tokens(SAID) > count_tokens(SAID)
        parsed = client.chat.completions.parse(model="any", messages=CHAT, response_format=City)
        assert parsed.choices[0].message.parsed == City(city="巴黎", known=True)
        chunks = list(
            client.chat.completions.create(
                model="any", messages=CHAT, stream=True, stream_options={"include_usage": True}
            )
        )
        texts = [chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices]
        assert "".join(texts) == SAID
        assert chunks[-1].usage == done.usage
    assert (server.recordings.answered, server.recordings.missing) == (3, 0)


def test_thinkbacks_own_client_is_answered(folder: Path) -> None:
    pauses: list[float] = []
    with serving(folder) as server, thinkback_client(server, pauses) as llm:
        in_process = RecordedLLM(folder)
        assert llm.complete(ASK) == in_process.complete(ASK)
        assert llm.complete(ASK, schema=SCHEMA) == in_process.complete(ASK, schema=SCHEMA)
        assert collect(llm.stream(ASK))[1] == collect(in_process.stream(ASK))[1]
        assert llm.masks is False
    assert (pauses, server.recordings.missing) == ([], 0)


def test_a_missing_reply_is_final_for_the_openai_library(folder: Path) -> None:
    with serving(folder) as server, openai_client(server) as client:
        before = time.monotonic()
        with pytest.raises(openai.APIStatusError) as caught:
            client.chat.completions.create(
                model="any", messages=CHAT[1:], response_format={"type": "json_object"}
            )
        assert time.monotonic() - before < 5
    (written,) = pending(folder)
    assert (caught.value.status_code, caught.value.code) == (424, "reply_not_recorded")
    assert f"pending/{written['key']}.json" in caught.value.message
    assert (written["messages"], written["schema"]) == (CHAT[1:], {"type": "object"})
    assert server.recordings.missing == 1


def test_a_missing_reply_is_final_for_thinkbacks_client(folder: Path) -> None:
    pauses: list[float] = []
    with serving(folder) as server, thinkback_client(server, pauses) as llm:
        for ask in (lambda: llm.complete(ASK[1:], schema=SCHEMA), lambda: list(llm.stream(ASK[1:]))):
            with pytest.raises(ModelRefused, match=r"no reply is recorded .* pending/[0-9a-f]{16}\.json"):
                ask()
    assert (pauses, len(pending(folder))) == ([], 2)
    in_process = RecordedLLM(folder)
    with pytest.raises(MissingReply) as caught:
        in_process.complete(ASK[1:], schema=SCHEMA)
    assert caught.value.key in {each["key"] for each in pending(folder)}  # the same prompt, the same key
    assert len(pending(folder)) == 2


def test_many_threads_at_once(folder: Path) -> None:
    outcomes: list[str] = []
    barrier = threading.Barrier(8)

    def ask(client: openai.OpenAI, number: int) -> None:
        barrier.wait(10)
        for _ in range(5):
            outcomes.append(
                client.chat.completions.create(model="a", messages=CHAT).choices[0].message.content or ""
            )
            try:
                client.chat.completions.create(
                    model="a", messages=[{"role": "user", "content": f"Number {number % 2}?"}]
                )
            except openai.APIStatusError as error:
                outcomes.append(str(error.code))

    with serving(folder) as server, openai_client(server) as client:
        threads = [threading.Thread(target=ask, args=(client, number)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    assert {text: outcomes.count(text) for text in set(outcomes)} == {SAID: 40, "reply_not_recorded": 40}
    assert (server.recordings.answered, server.recordings.missing) == (40, 2)
    assert [each["messages"][0]["content"] for each in pending(folder)] != []
    assert sorted(path.suffix for path in (folder / "pending").iterdir()) == [".json", ".json"]
    assert (folder / "used.txt").read_text("ascii").split() == [Prompt.from_messages(ASK).key]


JSON_TYPE = {"Content-Type": "application/json"}


@pytest.mark.parametrize(
    ("path", "body", "headers", "status", "code"),
    [
        ("/v1/embeddings", b"{}", JSON_TYPE, 404, "not_found"),
        ("/v1/chat/completions", b"{", JSON_TYPE, 400, "invalid_json"),
        ("/v1/chat/completions", b"\xff", JSON_TYPE, 400, "invalid_json"),
        ("/v1/chat/completions", b"[" * 200_000, JSON_TYPE, 400, "invalid_json"),
        ("/v1/chat/completions", b"[]", JSON_TYPE, 400, "invalid_request"),
        ("/v1/chat/completions", b'{"messages": []}', JSON_TYPE, 400, "invalid_request"),
        ("/v1/chat/completions", b'{"messages": ["hi"]}', JSON_TYPE, 400, "invalid_request"),
        ("/v1/chat/completions", b"{}", {"Content-Type": "text/plain"}, 415, "unsupported_media_type"),
        ("/v1/chat/completions", b"", {**JSON_TYPE, "Content-Length": "1e3"}, 411, "length_required"),
        ("/v1/chat/completions", b"", {**JSON_TYPE, "Content-Length": "9000000"}, 413, "request_too_large"),
    ],
)
def test_bad_requests_are_refused(
    folder: Path, path: str, body: bytes, headers: dict[str, str], status: int, code: str
) -> None:
    with serving(folder) as server:
        connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=10)
        connection.request("POST", path, body, headers)
        response = connection.getresponse()
        answer = json.loads(response.read())
        connection.close()
    assert (response.status, answer["error"]["code"]) == (status, code)
    assert response.headers["x-should-retry"] == "false"
    assert not (folder / "pending").exists()


def test_a_pending_prompt_that_cannot_be_written_is_an_error(folder: Path) -> None:
    (folder / "pending").write_text("a file", "utf-8")
    with (
        serving(folder) as server,
        openai_client(server) as client,
        pytest.raises(openai.APIStatusError) as caught,
    ):
        client.chat.completions.create(model="any", messages=CHAT[1:])
    assert (caught.value.status_code, caught.value.code) == (424, "pending_not_written")


def test_no_prompt_text_is_logged(
    folder: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError(SECRET)

    ask: list[Any] = [{"role": "user", "content": SECRET}]
    with serving(folder) as server, openai_client(server) as client:
        with pytest.raises(openai.APIStatusError):
            client.chat.completions.create(model="any", messages=ask)
        monkeypatch.setattr(server_module, "estimate_usage", fail)
        with pytest.raises(openai.APIConnectionError):
            client.with_options(max_retries=0).chat.completions.create(model="any", messages=CHAT)
    said = "".join(capfd.readouterr())
    assert SECRET not in said
    assert "a request failed (RuntimeError)" in said


def test_a_port_in_use_is_one_clear_error(folder: Path) -> None:
    with serving(folder) as server:
        done = lab("record", folder, "--port", server.server_port)
    assert (done.exit_code, done.stderr.count("\n")) == (1, 1)
    assert "choose another --port" in done.stderr


# --- the command ------------------------------------------------------------------------------


@contextmanager
def recording_process(*words: object) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """`thinkback-lab record` in a process, and the URL that it prints."""
    command = [sys.executable, "-m", "thinkback_lab", "record", *map(str, words)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        watchdog = threading.Timer(60, process.kill)
        watchdog.start()
        try:
            assert process.stderr is not None
            line = process.stderr.readline()
            found = re.search(r"http://\S+/v1", line)
            assert found, line
            yield process, found.group()
        finally:
            watchdog.cancel()
            process.kill()


@pytest.mark.parametrize(("stop", "as_json"), [(signal.SIGINT, True), (signal.SIGTERM, False)])
def test_the_command_serves_until_it_is_stopped_and_prints_a_summary(
    folder: Path, stop: signal.Signals, as_json: bool
) -> None:
    words = ("--port", 0, "--model", "gpt-x", *(["--json"] if as_json else []))
    with recording_process(folder, *words) as (process, url):
        assert url.startswith("http://127.0.0.1:")
        with openai.OpenAI(base_url=url, api_key="none", timeout=10) as client:
            assert client.chat.completions.create(model="any", messages=CHAT).model == "gpt-x"
            with pytest.raises(openai.APIStatusError):
                client.chat.completions.create(model="any", messages=[{"role": "user", "content": SECRET}])
            process.send_signal(stop)  # the client's connection is still open
            out, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (0, "")
    if as_json:
        assert json.loads(out) == {"folder": str(folder), "replies": 2, "answered": 1, "missing": 1}
    else:
        assert out == f"1 prompts answered, 1 missing: see {folder / 'pending'}\n"


def test_status(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(MissingReply):
        RecordedLLM(folder).complete(ASK[1:])
    assert lab("record", folder, "--status").stdout == (
        f"{folder}: 2 replies, 2 of them unused; 1 pending prompts\n"
    )
    told = json.loads(lab("record", folder, "--status", "--json").stdout)
    assert (told["replies"], told["pending"], told["unused"]) == (2, 1, 2)
    assert told["pending_keys"] == [pending(folder)[0]["key"]]
    assert len(told["unused_keys"]) == 2
    done = lab("record", tmp_path / "absent", "--status")
    assert (done.exit_code, done.stderr.count("\n")) == (1, 1)


# --- evaluations ------------------------------------------------------------------------------


def evaluate(folder: Path, out: Path) -> Result:
    words = ("eval", "perltqa", "--data", FIXTURES, "--scheme", "bm25", "--embedder", "hashing", "--limit", 4)
    return lab(*words, "--llm", f"recorded:{folder}", "--out", out, "--json")


@pytest.fixture
def committed(tmp_path: Path) -> Path:
    """A copy of the committed recording, so that runs change nothing in the repository."""
    return Path(shutil.copytree(FIXTURES / "recorded" / "replies", tmp_path / "recorded" / "replies")).parent


def test_an_evaluation_runs_on_the_committed_recording(committed: Path, tmp_path: Path) -> None:
    done = evaluate(committed, tmp_path / "run")
    assert done.exit_code == 0, (
        f"{done.stderr}: the prompt has changed, answer it and add the reply to the fixture"
    )
    told = json.loads(done.stdout)
    assert (told["n"], told["settings"]["reader"]) == (4, "recorded:recorded")
    assert told["metrics"]["anchor_map"] > 0.3
    status = read_status(committed)
    assert (len(status.replies), status.pending, status.unused) == (4, (), ())
    lines = (tmp_path / "run" / "questions.jsonl").read_text("utf-8").splitlines()
    assert any("Heron" in json.loads(line)["answer"] for line in lines)
    judged = lab("judge", tmp_path / "run", "--judge", f"recorded:{write_replies(tmp_path / 'verdicts')}")
    assert (judged.exit_code, judged.stdout) == (1, "")
    assert "4 prompts have no recorded reply" in judged.stderr
    assert len(pending(tmp_path / "verdicts")) == 4


def test_a_run_collects_every_missing_prompt_and_resumes(committed: Path, tmp_path: Path) -> None:
    path = committed / "replies" / "perltqa.jsonl"
    lines = path.read_text("utf-8").splitlines()
    path.write_text("\n".join(lines[:1]), "utf-8")
    done = evaluate(committed, tmp_path / "run")
    assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert "3 prompts have no recorded reply" in done.stderr
    assert len(pending(committed)) == 3
    assert not (tmp_path / "run" / "results.json").exists()
    assert len((tmp_path / "run" / "questions.jsonl").read_text("utf-8").splitlines()) == 1
    path.write_text("\n".join(lines), "utf-8")
    assert json.loads(evaluate(committed, tmp_path / "run").stdout)["n"] == 4
    assert pending(committed) == []


@pytest.mark.parametrize(
    "command",
    [
        lambda file, out: ("eval", "scenarios", file),
        lambda file, out: ("eval", "scenarios", file, "--scheme", "thinkback:fading"),
        lambda file, out: ("replay", file, "--into", out / "memory.db"),
    ],
)
def test_thinking_with_missing_replies_gives_no_result(
    tmp_path: Path, command: Callable[[Path, Path], tuple[object, ...]]
) -> None:
    file = tmp_path / "tiny.jsonl"
    probe = {"question": "Where do I live?", "expect": [["Lyon"]]}
    scenario = {"id": "a", "lang": "en", "category": "update", "turns": TURNS, "probes": [probe]}
    file.write_text(json.dumps(scenario) + "\n", "utf-8")
    recording = write_replies(tmp_path / "recording")
    words = ("--llm", f"recorded:{recording}", "--think", "llm", "--embedder", "hashing")
    done = lab(*command(file, tmp_path), *words)
    assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    (written,) = pending(recording)
    assert f"{written['key']}.json" in done.stderr
    assert "I live in Lyon." in written["messages"][-1]["content"]
    assert written["schema"]["type"] == "object"


@pytest.mark.parametrize("spec", ["recorded:", "recorded:absent"])
def test_a_wrong_spec_is_one_clear_error(spec: str, tmp_path: Path) -> None:
    file = tmp_path / "tiny.jsonl"
    file.write_text(json.dumps({"id": "a", "lang": "en", "category": "c", "turns": TURNS}) + "\n", "utf-8")
    done = lab("eval", "scenarios", file, "--llm", spec, "--embedder", "hashing")
    assert (done.exit_code, done.stderr.count("\n")) == (1, 1)
    assert "folder" in done.stderr


def test_the_same_key_in_another_process() -> None:
    code = (
        "from thinkback import Message; from thinkback_lab.recorded.folder import Prompt;"
        "print(Prompt.from_messages([Message('user', 'Hello 你好')]).key)"
    )
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONUTF8": "1"}
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True
        )
        assert done.stdout.strip() == Prompt.from_messages([Message("user", "Hello 你好")]).key
