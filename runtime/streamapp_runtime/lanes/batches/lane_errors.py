"""The errors that a lane expects, and the status that a task reports for each."""

from collections.abc import Mapping
from typing import Final

from streamapp_runtime.checkpoint import CheckpointUnreadableError, StateUnreadableError
from streamapp_runtime.expressions.expression_client import ExpressionServerError
from streamapp_runtime.lanes.protocol.task_status import TaskStatus
from streamapp_runtime.operators.state.remote_lookup import RemoteTableRetryError, RemoteTableUnavailableError
from streamapp_runtime.operators.user_code.user_code_loader import UserCodeError
from streamapp_runtime.redacted_output import redacted
from streamapp_runtime.registered_schema import SchemaCompilerError
from streamapp_runtime.rows.row_form import RowFormError
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

LANE_ERRORS: Final[Mapping[type[Exception], TaskStatus]] = {
    FencedError: TaskStatus.FENCED,
    DeniedError: TaskStatus.DENIED,
    FullError: TaskStatus.FULL,
    UnavailableError: TaskStatus.UNAVAILABLE,
    SchemaCompilerError: TaskStatus.UNAVAILABLE,
    RecordRefusedError: TaskStatus.REFUSED,
    OutOfRangeError: TaskStatus.GONE,
    UnknownStreamError: TaskStatus.MISSING,
    StateUnreadableError: TaskStatus.UNREADABLE,
    RowFormError: TaskStatus.UNREADABLE,
    StoreBusyError: TaskStatus.BUSY,
    StoreError: TaskStatus.STORE,
    ExpressionServerError: TaskStatus.EXPRESSION,
    UserCodeError: TaskStatus.CODE,
    RemoteTableRetryError: TaskStatus.WAITING,
    RemoteTableUnavailableError: TaskStatus.AWAY,
}
"""What may happen to a lane without anything being wrong with the program.

The first entry that fits an error counts: an error's own class stands before the classes that it extends.
"""
EXPECTED_ERRORS: Final = tuple(LANE_ERRORS)


def status_of(error: Exception) -> TaskStatus:
    """The status that a task reports after an expected error."""
    return next(status for kind, status in LANE_ERRORS.items() if isinstance(error, kind))


def error_message(error: Exception, checkpoints: str) -> str:
    """The message of a task about an expected error; an unreadable checkpoint is named with its stream."""
    is_checkpoint = isinstance(error, CheckpointUnreadableError)
    return redacted(
        f"{checkpoints}, partition 0: {error}" if is_checkpoint else str(error) or type(error).__name__
    )
