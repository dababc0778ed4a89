"""Write conflicts, which a reconcile acts on, and the errors of API requests."""

from enum import Enum

FORBIDDEN = 403


class WriteConflict(Enum):
    """A refused write that the caller has to handle."""

    EXISTS = "exists"  # an object of this name exists already
    CONFLICT = "conflict"  # the object was changed or deleted since it was read


class ClusterError(Exception):
    """An API request without a usable answer."""


class UnansweredError(ClusterError):
    """The API server could not be reached, took too long, or was too busy: try the reconcile again."""

    def __init__(self, message: str, after: float | None = None) -> None:
        super().__init__(message)
        self.after = after  # seconds that the server asks to wait, from Retry-After


class RejectedError(ClusterError):
    """The API server refuses the object, or the operator lacks the right."""

    def __init__(self, code: int, reason: str, message: str) -> None:
        super().__init__(message)
        self.code = code  # of HTTP: 400, 401, 403, 405, 413, 415, 422
        self.reason = reason  # of Kubernetes: Invalid, Forbidden, NotFound of the namespace, ...


class DefinitionMissingError(ClusterError):
    """The API server knows no StreamApps: the CustomResourceDefinition is not there."""


class LeadershipLostError(ClusterError):
    """Another replica leads or may lead: no write is allowed, and this process ends."""
