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


class RowsWithoutKey:
    """How many rows without a key its task has had, whenever there are more."""

    state_columns = pa.schema([("rows", pa.int64())])

    def process(self, batch, state, out):
        if not batch["__key"].null_count:
            return
        place = pa.array([b"rows"])
        rows = pc.fill_null(state.own.get(place)["rows"], 0)
        rows = pc.add(rows, batch["__key"].null_count)
        state.own.put(place, pa.record_batch({"rows": rows}))
        out(pa.record_batch({"rows": rows}))


def tenants(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Each page with its header `tenant`."""
    tenants = [dict(headers).get("tenant") for headers in batch.column("h").to_pylist()]
    return pa.record_batch({"page": batch.column("page"), "tenant": pa.array(tenants, pa.binary())})
