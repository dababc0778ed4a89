"""Makes the executor of an operation."""

from collections.abc import Sequence

import pyarrow as pa

from streamapp_runtime.operations.choosing import Choosing
from streamapp_runtime.operations.executor import Executor, UnsupportedOperationError
from streamapp_runtime.operations.filling import Filling
from streamapp_runtime.operations.group_key import group_key
from streamapp_runtime.operations.held import side_of
from streamapp_runtime.operations.joining import Joining
from streamapp_runtime.operations.keeping import Keeping
from streamapp_runtime.operations.looking_up import LookingUp, LookingUpRemote
from streamapp_runtime.operations.mapping import Mapping
from streamapp_runtime.operations.processing import Processing
from streamapp_runtime.operations.put_out import put_out
from streamapp_runtime.operations.sessions import KeepingSessions
from streamapp_runtime.operations.supported import MEND, supported
from streamapp_runtime.operations.totals import KeepingTotals
from streamapp_runtime.operations.totals_form import totals_form
from streamapp_runtime.operations.user_code import load
from streamapp_runtime.operations.windowed import KeepingWindows
from streamapp_runtime.program import operations as ops


def prepare(operation: ops.Operation, given: Sequence[pa.Schema], made: pa.Schema) -> Executor:
    """What runs an operation over sources with the given columns, and makes rows with others.

    UnsupportedOperationError where this version cannot, UserCodeError where the app's own code is missing.
    """
    reason = supported(operation, given)
    if reason is not None:
        raise UnsupportedOperationError(reason, MEND.get(type(operation), "leave it out"))
    return _made(operation, given, made)


def _made(operation: ops.Operation, given: Sequence[pa.Schema], made: pa.Schema) -> Executor:
    match operation:
        case ops.LookUp():
            found: Executor = LookingUp(operation)
        case ops.LookUpRemote():
            found = LookingUpRemote(operation)
        case ops.SendToTable() | ops.SideInput():
            found = Filling(operation)
        case ops.Totals():
            found = _totals(operation, given[0])
        case ops.JoinStreams():
            left, right = given
            sides = side_of(0, operation.within_ms, left), side_of(1, operation.within_ms, right)
            found = Joining(operation, sides, (left, right))
        case ops.Process():
            found = Processing(operation, given[0], made)
        case ops.PythonMap():
            found = Mapping(operation, load(operation.python), given[0], made)
        case ops.Choose():
            found = Choosing(operation)
        case ops.Keep():
            found = Keeping(operation)
        case ops.Read() | ops.Write():
            raise AssertionError(operation)
    return found


def _totals(operation: ops.Totals, given: pa.Schema) -> Executor:
    key, form, out = group_key(operation, given), totals_form(operation, given), put_out(operation, given)
    if operation.window is None:
        return KeepingTotals(operation, key, form)
    if operation.window.kind == "session":
        return KeepingSessions(operation, key, form, out, operation.window.size_ms)
    return KeepingWindows(operation, key, form, out, operation.window)
