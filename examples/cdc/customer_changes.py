"""Changes as Debezium writes them, made rows of a table."""

import pyarrow as pa
import pyarrow.compute as pc


def rows(changes: pa.RecordBatch) -> pa.RecordBatch:
    """The row after each change, under its key; `op` says `d` of a deletion, all else writes the row."""
    after = changes["after"]
    return pa.record_batch(
        {
            "name": pc.struct_field(after, "name"),
            "country": pc.struct_field(after, "country"),
            "__key": changes["id"],
            "__tombstone": pc.equal(changes["op"], "d"),
            "__row": pa.array(range(len(changes)), pa.int64()),
        }
    )
