"""JSON output of language models: schema, parsing, repair and one retry."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from thinkback.errors import BadReply, InvalidInput
from thinkback.types import Message

BANNED_TOKEN_BIAS = -100
"""The `logit_bias` value that bans a token in OpenAI's API."""


def to_valid_unicode(text: str) -> str:
    """Join surrogate pairs into their character and replace lone surrogates by U+FFFD."""
    if not any("\ud800" <= char <= "\udfff" for char in text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def to_message_dicts(messages: Sequence[Message]) -> list[dict[str, str]]:
    """The messages in the format of OpenAI's API. Raises InvalidInput if there are none."""
    if not messages:
        raise InvalidInput("A language model was called without messages. Pass at least one.")
    return [{"role": message.role, "content": to_valid_unicode(message.content)} for message in messages]


def spelling_variants(words: Sequence[str]) -> list[str]:
    """Each word as given, in lower case and capitalised, with and without a leading space."""
    cased = [variant for word in words for variant in (word, word.lower(), word.capitalize())]
    return list(dict.fromkeys(variant for word in cased for variant in (f" {word}", word)))


def build_logit_bias(words: Sequence[str], tokenize: Callable[[str], Sequence[int]]) -> dict[str, int]:
    """OpenAI's `logit_bias` that bans the first token of each word; `tokenize` is the server's tokenizer."""
    space_tokens = set(tokenize(" "))  # some tokenizers encode the leading space as a separate token
    first_tokens = [
        [token for token in tokenize(variant) if token not in space_tokens][:1]
        for variant in spelling_variants(words)
    ]
    return {str(token): BANNED_TOKEN_BIAS for tokens in first_tokens for token in tokens}


JSON_TYPE_CHECKS: dict[str, Callable[[Any], bool]] = {
    "object": lambda v: isinstance(v, dict),
    "array": lambda v: isinstance(v, list),
    "string": lambda v: isinstance(v, str),
    "boolean": lambda v: isinstance(v, bool),
    "null": lambda v: v is None,
    "integer": lambda v: (
        not isinstance(v, bool) and (isinstance(v, int) or (isinstance(v, float) and v % 1 == 0))
    ),
    "number": lambda v: isinstance(v, int | float) and not isinstance(v, bool),
}


def find_schema_error(value: Any, schema: Mapping[str, Any]) -> str | None:
    """The first violation of the schema in words, or None if the value is valid."""
    return _find_error(value, schema, schema, "the reply", 0)


def is_strict_schema(schema: Mapping[str, Any]) -> bool:
    """Whether every object requires all its members and allows no others, as OpenAI's `strict` mode needs."""
    parts = [schema, *schema.get("$defs", {}).values()]
    while parts:
        part = parts.pop()
        if part.get("type") == "object" or "properties" in part:
            members = part.get("properties", {})
            if part.get("additionalProperties") is not False or set(part.get("required", ())) != set(members):
                return False
            parts.extend(members.values())
        parts.extend(part.get("anyOf", ()))
        if isinstance(part.get("items"), Mapping):
            parts.append(part["items"])
    return True


def _find_error(
    value: Any, schema: Mapping[str, Any], root: Mapping[str, Any], path: str, depth: int
) -> str | None:
    if depth > 64:
        return f"{path} is nested too deeply"
    if "$ref" in schema:
        schema = _resolve_ref(schema["$ref"], root)
    if "anyOf" in schema:
        problems = [_find_error(value, part, root, path, depth + 1) for part in schema["anyOf"]]
        return None if None in problems else problems[0]
    if problem := _find_value_error(value, schema, path):
        return problem
    if isinstance(value, dict):
        return _find_member_error(value, schema, root, path, depth)
    items = schema.get("items")
    if isinstance(value, list) and isinstance(items, Mapping):
        errors = (_find_error(item, items, root, f"{path}[{i}]", depth + 1) for i, item in enumerate(value))
        return next((error for error in errors if error), None)
    return None


def _find_value_error(value: Any, schema: Mapping[str, Any], path: str) -> str | None:
    """A violation by the value itself: its type, enum or const, not its members or items."""
    types = schema.get("type")
    names = [types] if isinstance(types, str) else list(types or ())
    if names and not any(JSON_TYPE_CHECKS[name](value) for name in names if name in JSON_TYPE_CHECKS):
        return f"{path} is not of type {' or '.join(names)}"
    if "enum" in schema and value not in schema["enum"]:
        return f"{path} is not one of {', '.join(map(repr, schema['enum']))}"
    if "const" in schema and value != schema["const"]:
        return f"{path} is not {schema['const']!r}"
    return None


def _find_member_error(
    value: dict[str, Any], schema: Mapping[str, Any], root: Mapping[str, Any], path: str, depth: int
) -> str | None:
    known = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in value:
            return f"{path} has no member {name!r}"
    if schema.get("additionalProperties") is False and (
        unknown := [name for name in value if name not in known]
    ):
        return f"{path} has an unknown member {unknown[0]!r}"
    for name, part in known.items():
        if name in value:
            problem = _find_error(value[name], part, root, f"{path}.{name}", depth + 1)
            if problem:
                return problem
    return None


def _without_invalid_items(value: Any, schema: Mapping[str, Any]) -> Any:
    """A copy of a reply in which the lists directly below it hold no invalid objects.

    A list that holds no valid one stays as it is: the reply is not taken for an empty one.
    """
    if not isinstance(value, dict):
        return value

    def keeps(item: Any, part: Mapping[str, Any]) -> bool:
        return not isinstance(item, dict) or _find_error(item, part, schema, "", 0) is None

    copy = dict(value)
    for name, part in schema.get("properties", {}).items():
        items = part.get("items")
        if isinstance(copy.get(name), list) and isinstance(items, Mapping):
            copy[name] = [item for item in copy[name] if keeps(item, items)] or copy[name]
    return copy


def _resolve_ref(ref: str, root: Mapping[str, Any]) -> Mapping[str, Any]:
    part: Any = root
    for step in filter(None, ref.removeprefix("#").split("/")):
        part = part.get(step, {}) if isinstance(part, Mapping) else {}
    return part if isinstance(part, Mapping) and "$ref" not in part else {}


MAX_JSON_STARTS = 200  # opening brackets tried before giving up; bounds the work on hostile replies
REASONING_RE = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)
CODE_FENCE_RE = re.compile(r"\A\s*```[\w-]*\s*\n(.*?)\n?\s*```\s*\Z", re.DOTALL)


def extract_json(text: str, schema: Mapping[str, Any], *, drop_invalid_items: bool = False) -> str:
    """The first JSON value in the text that satisfies the schema, as written there.

    With `drop_invalid_items`, objects in a list of the reply that violate the schema are left out, so that
    the others can be used.

    Raises:
        BadReply: There is none. `OpenAILLM` sends the message of this error to the model when it retries.
    """
    first_error: str | None = None
    for json_text, value in iter_json_values(text):
        error = find_schema_error(value, schema)
        if error is None:
            return json_text
        if drop_invalid_items:
            rest = _without_invalid_items(value, schema)
            if find_schema_error(rest, schema) is None:
                return json.dumps(rest, ensure_ascii=False)
        first_error = first_error or error
    if first_error is None:
        raise BadReply(
            f"The model was asked for JSON and said {_excerpt(text)}. Ask again, or use another model."
        )
    raise BadReply(
        f"The model's JSON does not fit the schema: {first_error}. It said {_excerpt(text)}. "
        "Ask again, or use a larger model."
    )


def iter_json_values(text: str) -> Iterator[tuple[str, Any]]:
    """Yield every outermost JSON value in the text, from left to right, as pairs of source text and value."""
    body = REASONING_RE.sub("", text)
    fence = CODE_FENCE_RE.match(body)
    whole = (fence.group(1) if fence else body).strip()
    decoder = json.JSONDecoder(parse_constant=_reject_constant)
    decoded = _decode(decoder, whole, 0)
    if decoded is not None and decoded[1] == len(whole):
        yield whole, decoded[0]
        return
    position, starts = 0, 0
    while starts < MAX_JSON_STARTS and (match := re.compile(r"[{\[]").search(body, position)):
        starts += 1
        decoded = _decode(decoder, body, match.start())
        if decoded is None:
            position = match.end()
        else:
            value, position = decoded
            yield body[match.start() : position], value


def add_schema_instruction(messages: Sequence[Message], schema: Mapping[str, Any]) -> list[Message]:
    """The messages with the schema appended to the last one, for servers that cannot enforce a schema."""
    schema_text = json.dumps(schema, ensure_ascii=False, separators=(",", ":"))
    line = (
        f"Reply with a single JSON value that satisfies this JSON schema, with no other text:\n{schema_text}"
    )
    *before, last = messages
    return [*before, replace(last, content=f"{last.content}\n\n{line}")]


def _decode(decoder: json.JSONDecoder, text: str, position: int) -> tuple[Any, int] | None:
    """The JSON value at a position and its end; None if it is malformed, truncated or nested too deeply."""
    try:
        return decoder.raw_decode(text, position)
    except (ValueError, RecursionError):
        return None


def _reject_constant(name: str) -> Any:
    """NaN and Infinity, which Python's decoder accepts, are not JSON."""
    raise ValueError(f"{name} is not JSON")


def _excerpt(text: str) -> str:
    return repr(text[:120] + ("…" if len(text) > 120 else ""))
