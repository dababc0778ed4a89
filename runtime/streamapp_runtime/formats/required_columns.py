"""Sees to it that columns declared NOT NULL have a value in every record."""

from collections.abc import Sequence
from typing import Final

import numpy as np
import pyarrow as pa

from streamapp.spec.value_types.column_list import Column
from streamapp_runtime.formats.record_format import UndecodableError

MISSING: Final = "is missing or null and must not be"
"""What is wrong with a column that must have a value."""


def required_columns(columns: Sequence[Column]) -> tuple[str, ...]:
    """The columns that must have a value."""
    return tuple(column.name for column in columns if not column.nullable)


def check_required(rows: pa.RecordBatch, names: Sequence[str]) -> pa.RecordBatch:
    """The same rows; UndecodableError that names those without a value in one of these columns."""
    for name in names:
        column = rows.column(name)
        if column.null_count:
            reason = f"{name}: {MISSING}"
            raise UndecodableError(reason, dict.fromkeys(np.flatnonzero(column.is_null()).tolist(), reason))
    return rows
