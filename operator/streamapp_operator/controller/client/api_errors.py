"""What the API server answers that is neither an object nor a failure, and the failures."""

from enum import Enum


class WriteConflict(Enum):
    """An answer that a step acts on."""

    EXISTS = "exists"  # something of that name is there already
    CONFLICT = "conflict"  # what was read is no longer so: changed since, or gone


class ClusterError(Exception):
    """An API call that gave no answer to act on."""


class UnansweredError(ClusterError):
    """The API server could not be reached, took too long, or was too busy: try the reconcile again."""

    def __init__(self, message: str, after: float | None = None) -> None:
        super().__init__(message)
        self.after = after  # seconds that the server asks to be left alone


class RejectedError(ClusterError):
    """The API server will not have this object, or does not let the operator do this."""

    def __init__(self, code: int, reason: str, message: str) -> None:
        super().__init__(message)
        self.code = code  # of HTTP: 400, 401, 403, 405, 413, 415, 422
        self.reason = reason  # of Kubernetes: Invalid, Forbidden, NotFound of the namespace, ...


class LeadershipLostError(ClusterError):
    """Another replica leads, or may: nothing may be written, and this process ends."""
