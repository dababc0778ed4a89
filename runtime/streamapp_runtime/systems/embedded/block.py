"""Blocks: some records of one partition as bytes, an Arrow record batch behind a header that describes it.

The records of a dense block have neighbouring offsets, counted from the one in its address. Compaction leaves
holes: a sparse block carries each record's offset, and when it was written.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from streamapp_runtime.systems.stream_system import RECORDS, STORED

Compression = Literal["lz4_raw", "zstd"]

SPARSE = pa.schema([*STORED, ("written", pa.int64())])
BLOCK_BYTES = 256 << 10
"""Blocks of this size cost least: larger ones are returned to the operating system after every use."""

_header = struct.Struct("<BBxxIQQqq24x")  # 64 bytes, so that the batch behind it is aligned
_codecs: tuple[Compression | None, ...] = (None, "lz4_raw", "zstd")
_SPARSE = 128


@dataclass(frozen=True, slots=True)
class BlockHeader:
    """The properties of a block that are known without reading its records."""

    records: int
    span: int  # the next block's offset is at least this far from its own
    newest_ms: int  # newest time of a record; the time of writing counts for one without
    written_ms: int  # when the youngest of its records was written
    size: int  # bytes of the record batch, uncompressed
    sparse: bool
    compression: Compression | None


@dataclass(frozen=True, slots=True)
class Block:
    """A block as it is stored; a sparse one knows its first offset."""

    header: BlockHeader
    content: bytes
    first: int = 0


def dense_blocks(records: pa.RecordBatch, now_ms: int, compression: Compression | None) -> Iterator[Block]:
    """Cut records (schema RECORDS) into blocks of a good size."""
    for piece in _pieces(records):
        newest = pc.max(pc.fill_null(piece.column(2), now_ms)).as_py()
        yield _block(piece, piece.num_rows, newest, now_ms, compression)


def sparse_blocks(records: pa.RecordBatch, compression: Compression | None) -> Iterator[Block]:
    """Cut what compaction left (schema SPARSE) into blocks of a good size."""
    for piece in _pieces(records):
        offsets, times, written = piece.column(0), piece.column(3), piece.column(4)
        first = offsets[0].as_py()
        newest = pc.max(pc.coalesce(times, written)).as_py()
        block = _block(piece, offsets[-1].as_py() - first + 1, newest, pc.max(written).as_py(), compression)
        yield Block(block.header, block.content, first)


def read_header(content: memoryview) -> BlockHeader:
    """Read a block's header."""
    version, flags, records, span, size, newest, written = _header.unpack_from(content)
    if version != 1:
        raise ValueError(f"a block of version {version}; this version of streamapp reads version 1")
    return BlockHeader(records, span, newest, written, size, bool(flags & _SPARSE), _codecs[flags & ~_SPARSE])


def stored_records(content: memoryview, first: int) -> pa.RecordBatch:
    """A block's records with their offsets (schema STORED). They view `content`, unless it was compressed."""
    header = read_header(content)
    batch = _batch(content, header)
    if header.sparse:
        return batch.select(STORED.names)
    return pa.RecordBatch.from_arrays([_offsets(first, header.records), *batch.columns], schema=STORED)


def with_writing_times(content: memoryview, first: int) -> pa.RecordBatch:
    """A block's records as compaction wants them (schema SPARSE). They view `content` too."""
    header = read_header(content)
    batch = _batch(content, header)
    if header.sparse:
        return batch
    written = pa.array(np.full(header.records, header.written_ms))
    return pa.RecordBatch.from_arrays(
        [_offsets(first, header.records), *batch.columns, written], schema=SPARSE
    )


def _offsets(first: int, records: int) -> pa.Array:
    return pa.array(np.arange(first, first + records, dtype=np.int64))


def _pieces(records: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    rows = max(1, BLOCK_BYTES * records.num_rows // max(1, records.nbytes))
    for start in range(0, records.num_rows, rows):
        yield records.slice(start, rows)


def _block(
    batch: pa.RecordBatch, span: int, newest_ms: int, written_ms: int, compression: Compression | None
) -> Block:
    body = batch.serialize()
    size = body.size
    if compression is not None:
        body = pa.Codec(compression).compress(body)
    sparse = "written" in batch.schema.names
    flags = _codecs.index(compression) | (_SPARSE if sparse else 0)
    header = BlockHeader(batch.num_rows, span, newest_ms, written_ms, size, sparse, compression)
    packed = _header.pack(1, flags, batch.num_rows, span, size, newest_ms, written_ms)
    return Block(header, b"".join((packed, body)))


def _batch(content: memoryview, header: BlockHeader) -> pa.RecordBatch:
    body = pa.py_buffer(content[_header.size :])
    if header.compression is not None:
        body = pa.Codec(header.compression).decompress(body, header.size)
    return pa.ipc.read_record_batch(body, SPARSE if header.sparse else RECORDS)
