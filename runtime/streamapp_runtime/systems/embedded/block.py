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

from streamapp_runtime.systems.stream_system import (
    HEADERS,
    RECORDS,
    RECORDS_WITH_HEADERS,
    STORED,
    STORED_WITH_HEADERS,
    no_headers,
)

Compression = Literal["lz4_raw", "zstd"]

SPARSE = pa.schema([*STORED, ("written", pa.int64())])
SPARSE_WITH_HEADERS = SPARSE.append(HEADERS)
BLOCK_BYTES = 256 << 10
"""Blocks of this size cost least: larger ones are returned to the operating system after every use."""

_header = struct.Struct("<BBxxIQQqq24x")  # 64 bytes, so that the batch behind it is aligned
_codecs: tuple[Compression | None, ...] = (None, "lz4_raw", "zstd")
_SPARSE, _HEADERS = 128, 64


@dataclass(frozen=True, slots=True)
class BlockHeader:
    """The properties of a block that are known without reading its records."""

    records: int
    span: int  # the next block's offset is at least this far from its own
    newest_ms: int  # newest time of a record; the time of writing counts for one without
    written_ms: int  # when the youngest of its records was written
    size: int  # bytes of the record batch, uncompressed
    sparse: bool
    headers: bool  # some of its records have headers, and it has a column of them
    compression: Compression | None


@dataclass(frozen=True, slots=True)
class Block:
    """A block as it is stored; a sparse one knows its first offset."""

    header: BlockHeader
    content: bytes
    first: int = 0


def dense_blocks(records: pa.RecordBatch, now_ms: int, compression: Compression | None) -> Iterator[Block]:
    """Cut records (schema RECORDS, or that with headers) into blocks of a good size."""
    for piece in _pieces(records):
        newest = pc.max(pc.fill_null(piece.column(2), now_ms)).as_py()
        yield _block(piece, piece.num_rows, newest, now_ms, compression)


def sparse_blocks(records: pa.RecordBatch, compression: Compression | None) -> Iterator[Block]:
    """Cut what compaction left (schema SPARSE, or that with headers) into blocks of a good size."""
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
    codec = _codecs[flags & ~(_SPARSE | _HEADERS)]
    return BlockHeader(
        records, span, newest, written, size, bool(flags & _SPARSE), bool(flags & _HEADERS), codec
    )


def stored_records(content: memoryview, first: int, *, headers: bool = False) -> pa.RecordBatch:
    """A block's records with their offsets (schema STORED, or that with headers).

    They view `content`, unless it was compressed.
    """
    return _columns(content, first, STORED_WITH_HEADERS if headers else STORED)


def with_writing_times(content: memoryview, first: int, *, headers: bool = False) -> pa.RecordBatch:
    """A block's records as compaction wants them (schema SPARSE, or that with headers), views too."""
    return _columns(content, first, SPARSE_WITH_HEADERS if headers else SPARSE)


def _columns(content: memoryview, first: int, schema: pa.Schema) -> pa.RecordBatch:
    """A block's columns, with those that it has no need to store."""
    header = read_header(content)
    batch = _batch(content, header)
    columns = dict(zip(batch.schema.names, batch.columns, strict=True))
    if "offset" not in columns:
        columns["offset"] = _offsets(first, header.records)
    if "written" in schema.names and "written" not in columns:
        columns["written"] = pa.array(np.full(header.records, header.written_ms))
    if HEADERS.name in schema.names and HEADERS.name not in columns:
        columns[HEADERS.name] = no_headers(header.records)
    return pa.RecordBatch.from_arrays([columns[name] for name in schema.names], schema=schema)


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
    sparse, headers = ("written" in batch.schema.names), (HEADERS.name in batch.schema.names)
    flags = _codecs.index(compression) | (_SPARSE if sparse else 0) | (_HEADERS if headers else 0)
    header = BlockHeader(batch.num_rows, span, newest_ms, written_ms, size, sparse, headers, compression)
    packed = _header.pack(1, flags, batch.num_rows, span, size, newest_ms, written_ms)
    return Block(header, b"".join((packed, body)))


def _batch(content: memoryview, header: BlockHeader) -> pa.RecordBatch:
    body = pa.py_buffer(content[_header.size :])
    if header.compression is not None:
        body = pa.Codec(header.compression).decompress(body, header.size)
    return pa.ipc.read_record_batch(body, _SCHEMAS[header.sparse, header.headers])


_SCHEMAS = {
    (False, False): RECORDS,
    (False, True): RECORDS_WITH_HEADERS,
    (True, False): SPARSE,
    (True, True): SPARSE_WITH_HEADERS,
}
"""The columns of a block, by whether it is sparse and has headers."""
