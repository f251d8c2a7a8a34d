"""Conversion of datetimes: to UTC, and to and from microseconds since 1970."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from thinkback.errors import InvalidInput

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def utc_now() -> datetime:
    """The default clock."""
    return datetime.now(UTC)


def to_utc(value: datetime, name: str) -> datetime:
    """`value` in UTC.

    Raises:
        InvalidInput: `value` has no time zone (guessing one could silently shift it).
    """
    if not isinstance(value, datetime):
        raise InvalidInput(f"{name} must be a datetime, not {type(value).__name__}")
    if value.tzinfo is None or value.utcoffset() is None:
        raise InvalidInput(
            f"{name}={value.isoformat()} has no time zone: pass a timezone-aware datetime, "
            "for example datetime.now(timezone.utc)"
        )
    try:
        return value.astimezone(UTC)
    except OverflowError as error:
        raise InvalidInput(f"{name}={value.isoformat()} is outside the years 1 to 9999 in UTC") from error


def to_micros(value: datetime) -> int:
    """Microseconds since 1970, exact."""
    return (value - _EPOCH) // _MICROSECOND


def from_micros(value: int) -> datetime:
    return _EPOCH + timedelta(microseconds=value)
