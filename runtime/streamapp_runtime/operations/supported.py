"""What this version cannot run, told before the first row comes."""

from collections.abc import Sequence

import pyarrow as pa

from streamapp_runtime.operations.group_key import group_key
from streamapp_runtime.operations.totals_form import totals_form
from streamapp_runtime.program.operations import JoinStreams, Operation, Read, Totals, Write

MEND = {
    Totals: "set emit: onUpdate, cast the columns, or count instead",
    JoinStreams: "make it an inner join, or one by time: arrival",
}


def supported(operation: Operation, given: Sequence[pa.Schema] = ()) -> str | None:
    """Why an operation cannot run, None where it can. `given` are its sources' columns, where known."""
    if isinstance(operation, Read | Write):
        return "streams are read and written elsewhere"
    if isinstance(operation, JoinStreams) and operation.time == "event" and operation.type != "inner":
        return (
            f"a {operation.type} join by event time gives rows without a partner when the watermark passes, "
            "and there are no watermarks yet"
        )
    if isinstance(operation, Totals):
        return _totals(operation, given)
    return None


def _totals(operation: Totals, given: Sequence[pa.Schema]) -> str | None:
    if operation.emit == "onWatermark":
        return "totals go out when the watermark passes a window's end, and there are no watermarks yet"
    try:
        for schema in given:
            group_key(operation, schema)
            totals_form(operation, schema)
    except TypeError as error:
        return str(error)
    return None
