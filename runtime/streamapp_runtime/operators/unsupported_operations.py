"""What this version cannot run, told before the first row comes."""

from collections.abc import Mapping, Sequence

import pyarrow as pa

from streamapp_runtime.operators.aggregate.group_key import group_key
from streamapp_runtime.operators.aggregate.totals_form import totals_form
from streamapp_runtime.operators.operations import Operation, Read, Totals, Write

UNSUPPORTED_HINTS: Mapping[type[Operation], str] = {
    Totals: "set emit: onUpdate, cast the columns, or count instead",
}


def unsupported_reason(operation: Operation, given: Sequence[pa.Schema] = ()) -> str | None:
    """Why an operation cannot run, None where it can. `given` are its sources' columns, where known."""
    if isinstance(operation, Read | Write):
        return "streams are read and written elsewhere"
    if isinstance(operation, Totals):
        return _totals(operation, given)
    return None


def _totals(operation: Totals, given: Sequence[pa.Schema]) -> str | None:
    if operation.emit == "onWatermark" and operation.window is None:
        return "running totals have no end that a watermark could pass"
    try:
        for schema in given:
            group_key(operation, schema)
            totals_form(operation, schema)
    except TypeError as error:
        return str(error)
    return None
