"""What the openai library raises, in the words of thinkback's error tree.

A message never carries the key: answers to a rejected key are not quoted, the key is cut out of all others.
"""

from __future__ import annotations

from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

from thinkback.errors import BadReply, ModelError, ModelRefused, ModelTimeout, ModelUnavailable, RateLimited
from thinkback.models.retry import Fault

if TYPE_CHECKING:
    import openai


def fault_of(exc: Exception, where: str, key: str) -> Fault | None:
    """The fault behind an exception, or None if it is not one of the library's."""
    import openai

    if isinstance(exc, openai.APIStatusError):
        return _status(exc, where, key)
    if isinstance(exc, openai.APITimeoutError) or _is_transport(exc, "TimeoutException"):
        return Fault(
            ModelTimeout(
                f"{where} did not answer in time. Try again, raise the timeout, or use a smaller model."
            ),
            True,
        )
    if isinstance(exc, openai.APIConnectionError):
        cause = type(exc.__cause__ or exc).__name__
        text = f"{where} could not be reached ({cause}). Check base_url and that it runs."
        return Fault(ModelUnavailable(text), True)
    if _is_transport(exc, "HTTPError"):
        cause = type(exc).__name__
        return Fault(BadReply(f"{where} broke off in the middle of its answer ({cause}). Try again."), True)
    if isinstance(exc, openai.OpenAIError):
        detail = redacted(str(exc), key)
        return Fault(
            BadReply(f"{where} answered something unusable: {detail}. Check that it speaks the OpenAI API."),
            False,
        )
    return None


def _status(exc: openai.APIStatusError, where: str, key: str) -> Fault:
    code, detail = exc.status_code, redacted(exc.message, key)
    error: ModelError
    if code == 429:
        wait = retry_after(exc.response.headers)
        advice = f"Wait {wait:g} s" if wait is not None else "Wait a while"
        return Fault(
            RateLimited(f"{where} asks to slow down (429). {advice} and try again.", wait), True, code
        )
    if code in (401, 403):
        error = ModelUnavailable(
            f"{where} does not accept the API key ({code}). Check OPENAI_API_KEY or api_key."
        )
    elif code == 404:
        error = ModelUnavailable(
            f"{where} was not found (404): {detail}. Check the model's name and the base_url."
        )
    elif code == 408 or code >= 500:
        return Fault(ModelUnavailable(f"{where} failed ({code}): {detail}. Try again later."), True, code)
    else:
        error = ModelRefused(f"{where} rejected the request ({code}): {detail}. Shorten or change it.")
    return Fault(error, False, code)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait, from the header's number or its date (counted from the server's own clock)."""
    value = headers.get("retry-after")
    if value is None:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(
            0.0, (parsedate_to_datetime(value) - parsedate_to_datetime(headers["date"])).total_seconds()
        )
    except (KeyError, ValueError, TypeError):
        return None


def redacted(text: str, key: str) -> str:
    return " ".join(text.replace(key, "[key]").split())[:300] if key else " ".join(text.split())[:300]


def _is_transport(exc: Exception, base: str) -> bool:
    """Whether it is an error of httpx (since openai 3: httpx2): openai does not wrap those of reading."""
    return any(
        c.__name__ == base and c.__module__.split(".")[0] in ("httpx", "httpx2") for c in type(exc).__mro__
    )
