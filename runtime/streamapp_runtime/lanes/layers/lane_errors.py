"""The errors that a lane expects, and the status that a task reports for each."""

from collections.abc import Mapping

from streamapp_runtime.checkpoint import StateUnreadableError
from streamapp_runtime.operators.state.remote_lookup import RemoteTableRetryError, RemoteTableUnavailableError
from streamapp_runtime.operators.user_code.user_code_loader import UserCodeError
from streamapp_runtime.stores.store import StoreBusyError, StoreError
from streamapp_runtime.systems.stream_system import (
    DeniedError,
    FencedError,
    FullError,
    OutOfRangeError,
    RecordRefusedError,
    UnavailableError,
    UnknownStreamError,
)

LANE_ERRORS: Mapping[type[Exception], str] = {
    FencedError: "fenced",
    DeniedError: "denied",
    FullError: "full",
    UnavailableError: "unavailable",
    RecordRefusedError: "refused",
    OutOfRangeError: "gone",
    UnknownStreamError: "missing",
    StateUnreadableError: "unreadable",
    StoreBusyError: "busy",
    StoreError: "store",
    UserCodeError: "code",
    RemoteTableRetryError: "waiting",
    RemoteTableUnavailableError: "away",
}
"""What may happen to a lane without anything being wrong with the program, and what it is called.

The first that fits counts.
"""
