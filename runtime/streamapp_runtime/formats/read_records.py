"""The records that were read of a batch, behind their frames, and what is wrong with the others."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

import numpy as np
import pyarrow as pa

from streamapp_runtime.formats.required_columns import MISSING
from streamapp_runtime.rows.byte_columns import null_mask
from streamapp_runtime.rows.row_form import Bytes, Positions


class ReadRecords(NamedTuple):
    """The columns of the good records, the places of these, and the faults of the others."""

    columns: pa.RecordBatch
    places: Positions
    faults: Mapping[int, str]


class SchemaReader(Protocol):
    """A writer's schema, resolved to the columns of a stream."""

    def read(self, data: Bytes, starts: Positions, ends: Positions) -> ReadRecords:
        """The records between these places of the bytes; a record that has a fault costs no other one."""


def good_records(
    columns: Sequence[pa.Array], schema: pa.Schema, required: Sequence[str], faults: Mapping[int, str]
) -> ReadRecords:
    """The rows without those that have a fault, or no value where one is required."""
    every = dict(faults)
    for name in required:
        column = columns[schema.get_field_index(name)]
        if column.null_count:
            missing = np.flatnonzero(null_mask(column)).tolist()
            every = dict.fromkeys(missing, f"{name}: {MISSING}") | every
    rows = pa.RecordBatch.from_arrays(list(columns), schema=schema)
    places = np.arange(rows.num_rows)
    if not every:
        return ReadRecords(rows, places, {})
    places = np.delete(places, list(every))
    return ReadRecords(rows.take(pa.array(places)), places, every)
