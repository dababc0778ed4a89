"""Formats: million rows for each CPU second, and what partitioning, metadata and bad records cost."""

from collections.abc import Callable, Iterator
from functools import partial
from time import process_time
from typing import TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bench.row import Aim, Compared, Row
from streamapp.spec.value_types.column_list import Column, parse_columns
from streamapp.spec.value_types.record_fields import FIELD_TYPES, RecordField
from streamapp_runtime.formats.format_options import FormatOptions, ResolvedWriterSchema
from streamapp_runtime.formats.message_envelope import close_envelopes, open_envelopes
from streamapp_runtime.formats.stream_format import REGISTERED_KINDS, open_format
from streamapp_runtime.key_partitioning import partition_of
from streamapp_runtime.lanes.protocol.batch_orders import ReadRange
from streamapp_runtime.lanes.records.record_decoding import RecordChunk, RecordDecoder, RequestedRange
from streamapp_runtime.operators.stateless.stream_operations import Read, StreamRole
from streamapp_runtime.registered_schema import RegisteredSchema, SchemaId
from streamapp_runtime.systems.stream_system import HEADERS, STORED_WITH_HEADERS

ROWS = 1_000_000
VIEWS = "user STRING, page STRING, ts TIMESTAMP"
NUMBERS = VIEWS + ", n BIGINT, x DOUBLE"
AIMS = {"json": Aim(least=1), "columns": Aim(least=2), "avro": None, "debezium": None, "csv": None}
_SLOWLY_WRITTEN = ("avro", "debezium")

T = TypeVar("T")


def rows() -> Iterator[Row]:
    """Each format both ways, then the envelope, partitioning, and JSON among which some is bad."""
    for name, aim in AIMS.items():
        for columns in (VIEWS, NUMBERS):
            count = ROWS // 20 if name in _SLOWLY_WRITTEN else ROWS
            form = open_format(name, parse_columns(columns))
            batch = _views(count).select(form.schema.names)
            wrote, values = _rate(count, partial(form.encode, batch))
            read, found = _rate(count, partial(form.decode, values))
            beside = f"{len(form.schema)} columns, {values.nbytes / count:.0f} bytes a row"
            if found.bad or not found.columns.equals(batch):
                raise AssertionError(f"{name} does not give back what it wrote")
            yield Row(f"{name}: written", wrote, "M rows/s", aim, beside)
            yield Row(f"{name}: read", read, "M rows/s", aim, beside)
    yield from _registered(_views(ROWS // 20))
    yield from _around(_views(ROWS))
    yield from _beside_values(_views(ROWS // 2))


class _OneSchema:
    """A registry of one schema."""

    def __init__(self, registered: RegisteredSchema) -> None:
        self._registered = registered

    def schema(self, _: SchemaId) -> RegisteredSchema:
        return self._registered


def _registered(batch: pa.RecordBatch) -> Iterator[Row]:
    """Each format of a registry both ways, reading compared with JSON without one."""
    columns, count = parse_columns(NUMBERS), len(batch)
    plain = open_format("json", columns)
    values = plain.encode(batch.select(plain.schema.names))
    json_rate, _ = _rate(count, partial(plain.decode, values))
    yield Row("registry: json without one, read", json_rate, "M rows/s")
    for name, kind in REGISTERED_KINDS.items():
        text = kind.own_schema(plain.schema)
        options = FormatOptions(registry=True, writer=ResolvedWriterSchema(7, text))
        form = open_format(name, columns, options, _OneSchema(RegisteredSchema(kind.name, text)))
        wrote, values = _rate(count, partial(form.encode, batch.select(form.schema.names)), times=1)
        read, found = _rate(count, partial(form.decode, values))
        if found.bad or not found.columns.equals(batch.select(form.schema.names)):
            raise AssertionError(f"{name} under a registry does not give back what it wrote")
        yield Row(f"registry: {name}, written", wrote, "M rows/s")
        yield Row(f"registry: {name}, read", read, "M rows/s", compared=Compared("json", json_rate))


def _beside_values(batch: pa.RecordBatch) -> Iterator[Row]:
    """The decoding of records with a column for one of their fields, and with none."""
    columns = parse_columns(VIEWS)
    form = open_format("json", columns)
    count, header = len(batch), [{"name": "traceparent", "value": b"00-4bf92f35-00f067aa-01"}]
    times, headers = pa.array(np.arange(count)), pa.array([header] * count, HEADERS.type)
    stored = pa.RecordBatch.from_arrays(
        [
            times,
            batch.column("user").cast(pa.binary()),
            form.encode(batch.select(form.schema.names)),
            times,
            headers,
        ],
        schema=STORED_WITH_HEADERS,
    )
    asked = RequestedRange(ReadRange("views", 0, 0, count), 0, 0)
    chunks = [RecordChunk(asked, stored.slice(start, 50_000)) for start in range(0, count, 50_000)]
    rates: dict[str, float] = {}
    for field in ("none", *RecordField):
        metadata = () if field == "none" else (RecordField(field),)
        held = tuple(Column("held", FIELD_TYPES[each]) for each in metadata)
        read = Read("views", "main", "views", StreamRole.INPUT, "json", (*columns, *held), metadata=metadata)
        decoder = RecordDecoder(read, form)
        rates[field], _ = _rate(count, partial(_decoded, decoder, chunks))
        compared = Compared("none", rates["none"])
        yield Row(f"records decoded, metadata: {field}", rates[field], "M rows/s", compared=compared)


def _decoded(decoder: RecordDecoder, chunks: list[RecordChunk]) -> None:
    for chunk in chunks:
        decoder.decode([chunk])


def _around(batch: pa.RecordBatch) -> Iterator[Row]:
    form = open_format("json", parse_columns(VIEWS))
    values = form.encode(batch.select(form.schema.names))
    rate, enclosed = _rate(ROWS, lambda: close_envelopes(values))
    yield Row("envelope: put on", rate, "M rows/s", Aim(least=10))
    yield Row(
        "envelope: taken off", _rate(ROWS, lambda: open_envelopes(enclosed))[0], "M rows/s", Aim(least=10)
    )
    users = batch.column("user")
    yield Row("partition of a key", _rate(ROWS, lambda: partition_of(users, 64))[0], "M rows/s", Aim(least=5))
    for share in (1_000_000, 1_000, 10, 1):
        mixed = _with_bad(values, share)
        rate, _ = _rate(ROWS, partial(form.decode, mixed), times=1)
        yield Row(f"json: read, one of {share:,} bad", rate, "M rows/s")


def _views(count: int) -> pa.RecordBatch:
    made = np.random.default_rng(7)
    users = pa.array(made.integers(0, 100_000, count)).cast(pa.string())
    pages = pa.array(made.integers(0, 1_000, count)).cast(pa.string())
    return pa.record_batch(
        {
            "user": pc.binary_join_element_wise("user-", users, ""),
            "page": pc.binary_join_element_wise("/pages/", pages, ""),
            "ts": pa.array(made.integers(1_700_000_000_000_000, 1_800_000_000_000_000, count)).cast(
                pa.timestamp("us", "UTC")
            ),
            "n": made.integers(0, 1_000_000, count),
            "x": made.integers(0, 1_000_000, count) / 100,
        }
    )


def _with_bad(values: pa.BinaryArray, share: int) -> pa.BinaryArray:
    bad = pa.array(np.arange(len(values)) % share == 0)
    return pc.if_else(bad, pa.scalar(b'{"user":5}'), values)


def _rate(count: int, run: Callable[[], T], times: int = 3) -> tuple[float, T]:
    """Million rows for each second of this process, the best of a few runs: others run beside it."""
    taken = []
    for _ in range(times):
        start = process_time()
        found = run()
        taken.append(process_time() - start)
    return count / min(taken) / 1e6, found
