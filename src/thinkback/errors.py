"""Every error thinkback raises on purpose, in one tree.

    ThinkbackError
    ├── InvalidInput            the caller's value cannot be used (empty text, k < 1, a time without zone)
    ├── NotFound                no such user, turn, thought or action
    ├── Conflict                the space has moved on (undo out of order, a key used for another turn)
    │   ├── LeaseLost           another worker has taken over this turn
    │   └── Outdated            the space was regrouped or erased while something was computed for it
    ├── StoreError              the database
    │   ├── StoreUnavailable    cannot be opened or written (missing folder, read-only, locked too long)
    │   ├── DiskFull            no space left; nothing was half-written
    │   ├── CorruptStore        the file is damaged or is no thinkback database
    │   ├── Contradiction       what was to be written contradicts itself; nothing of it was
    │   ├── NewerSchema         written by a newer thinkback
    │   └── EmbedderMismatch    written with another embedder; `thinkback reembed` converts
    ├── ModelError              a language model or embedder
    │   ├── ModelUnavailable    cannot be loaded or reached
    │   ├── ModelTimeout        did not answer in time
    │   ├── RateLimited         asked us to wait; carries `retry_after`
    │   ├── ModelPaused         is left alone for a while: it was down, whatever it is asked; `retry_after`
    │   ├── ModelRefused        answered, but would not do it
    │   └── BadReply            answered something that cannot be used (malformed, truncated, empty)
    └── MissingExtra            an optional dependency is not installed; names the install command

A message says what happened, to which thing, and what to do next.
"""

from __future__ import annotations


class ThinkbackError(Exception):
    """Base of all errors raised on purpose."""


class InvalidInput(ThinkbackError, ValueError):
    """The caller's value cannot be used."""


class NotFound(ThinkbackError, LookupError):
    """No such user, turn, thought or action."""


class Conflict(ThinkbackError):
    """The space has moved on since the caller looked."""


class LeaseLost(Conflict):
    """Another worker has taken over this turn."""


class ConcurrentUpdate(Conflict):
    """The space was regrouped or erased while something was computed for it."""


class StoreError(ThinkbackError):
    """The database refused."""


class StoreUnavailable(StoreError):
    """The database cannot be opened or written."""


class DiskFull(StoreError):
    """No space left on the device; nothing was half-written."""


class CorruptStore(StoreError):
    """The file is damaged, or is not a thinkback database."""


class IntegrityError(StoreError):
    """What was to be written contradicts itself, or what is there; nothing of it was."""


class NewerSchema(StoreError):
    """The database was written by a newer thinkback."""


class EmbedderMismatch(StoreError):
    """The database was written with another embedder."""


class ModelError(ThinkbackError):
    """A language model or embedder failed."""


class ModelUnavailable(ModelError):
    """The model cannot be loaded or reached."""


class ModelTimeout(ModelError):
    """The model did not answer in time."""


class RateLimited(ModelError):
    """The model asked us to wait."""

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class ModelPaused(ModelError):
    """The model is left alone for a while, for it was down; what was asked of it is not to blame."""

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class ModelRefused(ModelError):
    """The model answered, but would not do what was asked."""


class BadReply(ModelError):
    """The model answered something that cannot be used."""


class MissingExtra(ThinkbackError, ImportError):
    """An optional dependency is not installed."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs an extra that is not installed: pip install 'thinkback[{extra}]'")
        self.extra = extra
