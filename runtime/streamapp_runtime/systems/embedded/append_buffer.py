"""What a transaction will append to one partition: gathered into blocks before anybody has to wait for it."""

import pyarrow as pa

from streamapp_runtime.systems.embedded.block import BLOCK_BYTES, Block, Compression, dense_blocks


class AppendBuffer:
    """Records in the order in which they came."""

    def __init__(self, now_ms: int, compression: Compression | None) -> None:
        self._now_ms = now_ms
        self._compression = compression
        self._made: list[Block] = []
        self._waiting: list[pa.RecordBatch] = []
        self._waiting_bytes = 0
        self.records = 0

    def add(self, records: pa.RecordBatch) -> None:
        """Add records (schema RECORDS)."""
        self._waiting.append(records)
        self.records += records.num_rows
        self._waiting_bytes += records.nbytes
        if self._waiting_bytes >= BLOCK_BYTES:
            self._encode()

    def blocks(self) -> list[Block]:
        """All that was added, as blocks."""
        self._encode()
        return self._made

    def _encode(self) -> None:
        if self._waiting:
            one = len(self._waiting) == 1  # most are large enough; concatenating would copy them
            records = self._waiting[0] if one else pa.concat_batches(self._waiting)
            self._made += dense_blocks(records, self._now_ms, self._compression)
        self._waiting, self._waiting_bytes = [], 0
