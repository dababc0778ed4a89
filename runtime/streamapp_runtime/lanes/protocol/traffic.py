"""The records and bytes that pass through a lane, under the names that they are counted by."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import pyarrow as pa

from streamapp_runtime.rows.byte_columns import byte_count

ROWS_IN, BYTES_IN = "rowsIn", "bytesIn"
ROWS_OUT, BYTES_OUT = "rowsOut", "bytesOut"
RESTORED_BYTES = "restoredBytes"


@dataclass(slots=True)
class Traffic:
    """The records written, and their bytes, by stream."""

    _rows: Counter[str] = field(default_factory=Counter)
    _bytes: Counter[str] = field(default_factory=Counter)

    def note(self, stream: str, records: pa.RecordBatch) -> None:
        """Count records (schema RECORDS) and the bytes of their values."""
        self._rows[stream] += len(records)
        self._bytes[stream] += byte_count(records.column("value"))

    def counted(self) -> Iterator[tuple[str, str, int]]:
        """By counter and stream."""
        for counter, numbers in ((ROWS_OUT, self._rows), (BYTES_OUT, self._bytes)):
            for stream, number in numbers.items():
                yield counter, stream, number
