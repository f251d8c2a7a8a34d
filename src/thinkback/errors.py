"""All errors that thinkback raises.

    ThinkbackError
    ├── InvalidInput            an argument is invalid (empty text, k < 1, a datetime without time zone)
    │   └── InvalidName         a user, session, key or tenant name that cannot be kept exactly as given
    ├── NotFound                no such user, turn, thought or action
    ├── Conflict                the space has changed (undo out of order, a key used for another turn)
    │   ├── LeaseLost           another worker has taken over this turn
    │   └── ConcurrentUpdate    the space was regrouped or erased during a computation
    ├── StoreError              the database
    │   ├── StoreUnavailable    cannot be opened or written (missing folder, read-only, locked too long)
    │   │   └── StoreBusy       all connections to the database are in use; see `retry_after`
    │   ├── DiskFull            no space left on the device; the transaction was rolled back
    │   ├── CorruptStore        the file is damaged or not a thinkback database
    │   ├── IntegrityError      the values to write contradict each other; nothing was written
    │   ├── NewerSchema         written by a newer version of thinkback
    │   └── EmbedderMismatch    written with another embedder; convert it with `thinkback reembed`
    ├── ModelError              a language model or embedder
    │   ├── ModelUnavailable    cannot be loaded or reached
    │   ├── ModelTimeout        did not answer in time
    │   ├── RateLimited         rate limit reached; see `retry_after`
    │   ├── ModelPaused         not called for a while because it was down; see `retry_after`
    │   ├── ModelRefused        refused to answer
    │   └── BadReply            unusable answer (malformed, truncated, empty)
    ├── ClusterError            the Ray cluster cannot be reached, or a task on it failed
    └── MissingExtra            an optional dependency is not installed; the message names the command

A message says what happened, to which object, and what to do next.
"""

from __future__ import annotations


class ThinkbackError(Exception):
    """Base class of all errors."""


class InvalidInput(ThinkbackError, ValueError):
    """An argument is invalid."""


class InvalidName(InvalidInput):
    """A name is missing, given twice, contradicted, or cannot be kept exactly as given."""


class NotFound(ThinkbackError, LookupError):
    """No such user, turn, thought or action."""


class Conflict(ThinkbackError):
    """The space has changed since the caller read it."""


class LeaseLost(Conflict):
    """Another worker has taken over this turn."""


class ConcurrentUpdate(Conflict):
    """The space was regrouped, erased or edited during a computation. Repeat the computation."""


class StoreError(ThinkbackError):
    """The database failed."""


class StoreUnavailable(StoreError):
    """The database cannot be opened or written."""


class StoreBusy(StoreUnavailable):
    """All connections to the database are in use. Try again after `retry_after` seconds."""

    def __init__(self, message: str, retry_after: float = 1.0) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class DiskFull(StoreError):
    """No space left on the device. The transaction was rolled back."""


class CorruptStore(StoreError):
    """The file is damaged, or is not a thinkback database."""


class IntegrityError(StoreError):
    """The values to write contradict each other or the database. Nothing was written."""


class NewerSchema(StoreError):
    """The database was written by a newer version of thinkback."""


class EmbedderMismatch(StoreError):
    """The database was written with another embedder."""


class ModelError(ThinkbackError):
    """A language model or embedder failed."""


class ModelUnavailable(ModelError):
    """The model cannot be loaded or reached."""


class ModelTimeout(ModelError):
    """The model did not answer in time."""


class RateLimited(ModelError):
    """The model has a rate limit; retry after `retry_after` seconds, if given."""

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class ModelPaused(ModelError):
    """The model was down and is not called for `retry_after` seconds. The request is not at fault."""

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class ModelRefused(ModelError):
    """The model refused to answer."""


class BadReply(ModelError):
    """The model's answer is unusable."""


class ThinkingTimeout(ThinkbackError):
    """Thinking about a turn took longer than its time limit. The turn stays stored and can be recalled."""


class ClusterError(ThinkbackError):
    """The Ray cluster cannot be reached, or a task on it failed."""


class MissingExtra(ThinkbackError, ImportError):
    """An optional dependency is not installed."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs an extra that is not installed: pip install 'thinkback[{extra}]'")
        self.extra = extra
