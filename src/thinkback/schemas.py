"""The JSON form of thinkback's values: one declaration for export, journal, `--json`, REST and OpenAPI.

The JSON of a value is derived from its type. A dataclass becomes an object with its fields in order, a named
tuple one with its fields and properties. A type whose JSON differs says so in `JSON_FIELDS`, a tuple of
entries:

    "name"            the attribute (field or property) under its own name
    "key=attribute"   the attribute under another key
    "name:rows"       a tuple of values, each written as a list of its fields instead of an object
    "**name"          the fields of the attribute's value, merged into this object

There are two forms. The *public* form (`to_json`) is what users and clients see. The *stored* form
(`to_stored_json`, `from_stored_json`) is written to exports and to the journal: it leaves out what can be
derived (`ref`, `decisions`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields as dataclass_fields
from dataclasses import is_dataclass
from datetime import datetime
from functools import cache, partial
from types import NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Any,
    Literal,
    NamedTuple,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

from thinkback.errors import InvalidInput
from thinkback.times import to_utc
from thinkback.types import Action, Recollection, Ref, Turn

if TYPE_CHECKING:
    from pydantic import BaseModel

Json = dict[str, Any]
ValueT = TypeVar("ValueT")

PUBLIC_ONLY = {"ref", "decisions"}  # derived fields that the stored form leaves out
SNAPSHOTS = {"before", "after"}  # thoughts as the journal stored them: always in the stored form
OPTIONAL = {  # keys that early exports lack
    Turn: {"thought_at", "key", "recalled", "checks", "hidden_by"},
    Action: {"hides"},
}


class JsonField(NamedTuple):
    """One entry of a JSON object: its key, the attribute it is read from, the attribute's type and style."""

    key: str
    attribute: str
    hint: Any
    style: Literal["object", "rows", "merged"]


@cache
def json_fields(cls: Any) -> tuple[JsonField, ...]:
    """The entries of a type's JSON object, from `JSON_FIELDS` or else from its fields."""
    hints = _field_hints(cls)
    return tuple(_parse_entry(cls, entry, hints) for entry in getattr(cls, "JSON_FIELDS", hints))


@cache
def _field_hints(cls: Any) -> dict[str, Any]:
    hints = get_type_hints(cls)
    if is_dataclass(cls):
        return {field.name: hints[field.name] for field in dataclass_fields(cls)}
    names = [*cls._fields, *(name for name, value in vars(cls).items() if isinstance(value, property))]
    return {name: hints[name] if name in hints else _property_hint(cls, name) for name in names}


def _property_hint(cls: type, name: str) -> Any:
    return get_type_hints(getattr(cls, name).fget)["return"]


def _parse_entry(cls: type, entry: str, hints: Mapping[str, Any]) -> JsonField:
    style: Literal["object", "rows", "merged"] = "object"
    if entry.startswith("**"):
        entry, style = entry[2:], "merged"
    elif entry.endswith(":rows"):
        entry, style = entry.removesuffix(":rows"), "rows"
    key, _, attribute = entry.rpartition("=")
    hint = hints[attribute] if attribute in hints else _property_hint(cls, attribute)
    return JsonField(key or attribute, attribute, hint, style)


@cache
def is_object(cls: Any) -> bool:
    """Whether values of this type are written as JSON objects."""
    return isinstance(cls, type) and cls is not Ref and (is_dataclass(cls) or hasattr(cls, "_fields"))


# --- writing ---


def to_json(value: Any) -> Any:
    """The public JSON form of a value, as `--json` and REST show it."""
    return _dump(value, public=True)


def to_stored_json(value: Any) -> Any:
    """The stored JSON form of a value, as exports and the journal hold it."""
    return _dump(value, public=False)


def _dump(value: Any, *, public: bool) -> Any:
    result: Any
    if value is None or isinstance(value, (str, int, float)):
        result = value
    elif isinstance(value, datetime):
        result = value.isoformat()
    elif isinstance(value, Ref):
        result = str(value)
    elif is_object(value.__class__):
        result = _dump_object(value, public=public)
    elif isinstance(value, Mapping):
        result = {key: _dump(item, public=public) for key, item in value.items()}
    else:
        result = [_dump(item, public=public) for item in value]
    return result


def _dump_object(value: Any, *, public: bool) -> Json:
    result: Json = {}
    for key, attribute, _, style in json_fields(value.__class__):
        if not public and attribute in PUBLIC_ONLY:
            continue
        item = getattr(value, attribute)
        if style == "rows":
            result[key] = [dump_row(each) for each in item]
        elif style == "merged":
            result |= _dump(item, public=public)
        else:
            result[key] = _dump(item, public=public and attribute not in SNAPSHOTS)
    if isinstance(value, Recollection):
        for rank, item in enumerate(result["items"], start=1):
            item["rank"] = rank
    return result


def dump_row(value: Any) -> list[Any]:
    """A value as the list of its fields: shorter than an object where there are many."""
    return [getattr(value, field.attribute) for field in json_fields(value.__class__)]


# --- reading ---


def from_stored_json(cls: type[ValueT], data: Any) -> ValueT:
    """The value of a stored JSON object.

    Raises InvalidInput if a field is missing or cannot be converted. It does not check the types of all
    fields: call `check_field_types` for data that this program did not write itself.
    """
    try:
        loader: Callable[[Any], ValueT] = _object_loader(cast("Any", cls))
        value = loader(data)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise InvalidInput(f"this is not {_article(cls)} as thinkback exports it: {error!r}") from error
    return value


def _article(cls: type) -> str:
    words = "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in cls.__name__).strip()
    return f"{'an' if words[0] in 'aeiou' else 'a'} {words}"


@cache
def _object_loader(cls: Any) -> Callable[[Any], Any]:
    """A function that makes a value of this type from its stored JSON object."""
    stored = [field for field in json_fields(cls) if field.attribute not in PUBLIC_ONLY]
    plan = [(field.key, field.attribute, _field_loader(field)) for field in stored]
    optional = OPTIONAL.get(cls, set())

    def load(data: Any) -> Any:
        present = (step for step in plan if step[0] in data or step[0] not in optional)
        return cls(**{attribute: load_field(data[key]) for key, attribute, load_field in present})

    return load


def _field_loader(field: JsonField) -> Callable[[Any], Any]:
    if field.style != "rows":
        return _loader(field.hint)
    cls = get_args(field.hint)[0]
    return lambda rows: tuple([cls(*row) for row in rows])


@cache
def _loader(hint: Any) -> Callable[[Any], Any]:
    """A function that makes a value of the hinted type; scalars that may be None are taken as they are."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (UnionType, Union):
        (given,) = (each for each in inner if each is not NoneType)
        load = _unchanged if given in _SCALARS else _loader(given)
        return lambda data: None if data is None else load(data)
    if origin is tuple:
        load = _loader(inner[0])
        return lambda data: tuple([load(item) for item in data])
    if origin is Literal:
        return partial(_load_choice, inner)
    if hint is datetime:
        return lambda data: to_utc(datetime.fromisoformat(data), "time")
    if is_object(hint):
        return _object_loader(hint)
    return _SCALARS[hint]


def _unchanged(data: Any) -> Any:
    return data


def _load_choice(choices: tuple[str, ...], data: Any) -> Any:
    if data not in choices:
        raise ValueError(f"{data!r} is none of {', '.join(choices)}")
    return data


def _load_text(data: Any) -> str:
    if not isinstance(data, str):
        raise TypeError(f"{data!r} is not a text")
    return data


_SCALARS: dict[Any, Callable[[Any], Any]] = {int: int, str: _load_text, float: float, bool: bool}


def check_field_types(value: Any) -> None:
    """Raise InvalidInput if a field does not have its declared type: imported files may contain anything."""
    for name, hint in _field_hints(value.__class__).items():
        if not _has_type(getattr(value, name), hint):
            raise InvalidInput(f"{name} of {_article(type(value))} is not as thinkback exports it")


def _has_type(value: Any, hint: Any) -> bool:
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (UnionType, Union):
        result = any(_has_type(value, each) for each in inner)
    elif origin is Literal:
        result = isinstance(value, str) and value in inner
    elif origin is tuple:
        result = isinstance(value, tuple) and all(_has_type(item, inner[0]) for item in value)
    elif hint is int:
        result = type(value) is int and 0 <= value < 1 << 63
    elif hint is float:
        result = type(value) in (int, float) and math.isfinite(value)
    else:
        result = isinstance(value, hint)
        if result and is_dataclass(hint):
            check_field_types(value)
    return result


# --- describing ---


@cache
def response_model(cls: type, *, public: bool = True) -> type[BaseModel]:
    """A pydantic model that describes the JSON form of a type, for OpenAPI."""
    from pydantic import ConfigDict, create_model

    described: dict[str, Any] = {}
    for key, attribute, hint, style in json_fields(cls):
        if not public and attribute in PUBLIC_ONLY:
            continue
        if style == "merged":
            described |= {
                name: (field.annotation, ...) for name, field in response_model(hint).model_fields.items()
            }
        elif style == "rows":
            described[key] = (list[_row_type(get_args(hint)[0])], ...)  # type: ignore[misc]
        else:
            described[key] = (_described(hint, public=public and attribute not in SNAPSHOTS), ...)
    name = (
        cls.__name__
        if public or "ref" not in {field.key for field in json_fields(cls)}
        else f"Stored{cls.__name__}"
    )
    return create_model(name, __config__=ConfigDict(extra="forbid"), __doc__=cls.__doc__, **described)


def _described(hint: Any, *, public: bool) -> Any:
    """The hint with every value type replaced by the pydantic model of its JSON form."""
    origin, inner = get_origin(hint), get_args(hint)
    if hint is Ref:
        result: Any = str
    elif is_object(hint):
        result = response_model(hint, public=public)
    elif origin in (UnionType, Union):
        result = Union[tuple(_described(each, public=public) for each in inner)]  # noqa: UP007
    elif origin is tuple and inner[-1] is Ellipsis:
        result = list[_described(inner[0], public=public)]  # type: ignore[misc]
    elif origin is tuple:
        result = _fixed_list(inner)
    elif isinstance(origin, type) and issubclass(origin, Mapping):
        result = dict[_described(inner[0], public=public), _described(inner[1], public=public)]  # type: ignore[misc]
    else:
        result = hint
    return result


def _row_type(cls: type) -> Any:
    return _fixed_list([field.hint for field in json_fields(cls)])


def _fixed_list(hints: Sequence[Any]) -> Any:
    """A list of a fixed length. Client generators handle it better than a tuple."""
    from typing import Annotated

    from pydantic import Field

    scalars = dict.fromkeys(str if get_origin(hint) is Literal and len(hints) > 2 else hint for hint in hints)
    if float in scalars:
        scalars.pop(int, None)
    item: Any = Union[tuple(scalars)]  # noqa: UP007
    return Annotated[list[item], Field(min_length=len(hints), max_length=len(hints))]
