"""The own code of apps that the test kit's tests run."""

import pyarrow as pa
import pyarrow.compute as pc

CALLS: list[int] = []
"""How many rows each call of `lengths` was given."""


def lengths(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The length of each page."""
    CALLS.append(batch.num_rows)
    return pa.record_batch({"user": batch.column("user"), "length": measured(batch.column("page"))})


def measured(pages: pa.Array) -> pa.Array:
    """Lengths; a page without a name is an error."""
    if pages.null_count:
        raise ValueError("a view without a page")
    return pc.utf8_length(pages).cast(pa.int32())


def stopping(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Stops at a breakpoint with the rows in hand."""
    rows = batch.num_rows
    breakpoint()
    return pa.record_batch({"user": batch.column("user"), "length": pa.array([rows] * rows, pa.int32())})
