"""Rows that were looked up, and which of them is whose."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from streamapp_runtime.rows.row_decoder import decode


@dataclass(frozen=True, slots=True)
class LookupResult:
    """Rows that were found, and for every key asked for which of them is its own; null for none."""

    rows: pa.RecordBatch
    places: pa.Array


def lookup_result(values: pa.BinaryArray, schema: pa.Schema) -> LookupResult:
    """The rows of encoded values, of which null says that there is none."""
    present = values.drop_null()
    rows = decode(present, schema)
    if len(present) == len(values):
        return LookupResult(rows, pa.array(np.arange(len(values))))
    is_present = np.asarray(values.is_valid())
    return LookupResult(rows, pa.array(np.cumsum(is_present) - 1, mask=~is_present))
