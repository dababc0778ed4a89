"""Changes as Debezium's pages show them, and random ones, beside a model of their rows in plain Python."""

import json
from base64 import b64encode
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any, NamedTuple

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamapp.spec.value_types.column_list import parse_columns
from streamapp_runtime.formats.debezium.debezium_format import DebeziumFormat
from streamapp_runtime.formats.format_options import FormatOptions
from streamapp_runtime.formats.record_format import DecodedBatch
from streamapp_runtime.formats.stream_format import open_format
from tests.harness.engine.typed_values import TEXTS
from tests.harness.machine.random_cases import share

CUSTOMERS = "id INT NOT NULL, first_name STRING NOT NULL, email STRING"
ANNE = {"id": 1, "first_name": "Anne", "last_name": "Kretchmar", "email": "annek@noanswer.org"}
SOURCE = {"version": "3.3.2.Final", "connector": "postgresql", "name": "PostgreSQL_server", "snapshot": True}
ROW_SCHEMA = {"type": "struct", "fields": [{"type": "int32", "optional": False, "field": "id"}]}
ENVELOPE_SCHEMA = {
    "type": "struct",
    "fields": [{**ROW_SCHEMA, "optional": True, "field": "before"}, {**ROW_SCHEMA, "field": "after"}],
    "optional": False,
    "name": "PostgreSQL_server.inventory.customers.Envelope",
}
KEY_SCHEMA = {**ROW_SCHEMA, "name": "PostgreSQL_server.public.customers.Key"}


def change(op: str | None, after: Any = None, before: Any = None) -> dict[str, Any]:
    """An envelope, with the fields in Debezium's order."""
    envelope = {"before": before, "after": after, "source": SOURCE, "op": op, "ts_ms": 1559033904863}
    return {**envelope, "transaction": None}


def with_schema(payload: Any, schema: Any = ENVELOPE_SCHEMA) -> dict[str, Any]:
    return {"schema": schema, "payload": payload}


def debezium(columns: str, **options: Any) -> DebeziumFormat:
    form = open_format("debezium", parse_columns(columns), FormatOptions(**{"key": "id", **options}))
    assert isinstance(form, DebeziumFormat)
    return form


def decoded(form: DebeziumFormat, *records: Any) -> DecodedBatch:
    values = [
        None if each is None else each if isinstance(each, bytes) else json.dumps(each).encode()
        for each in records
    ]
    return form.decode(pa.array(values, pa.binary()))


def reasons(batch: DecodedBatch) -> dict[int, str]:
    return {bad.index: bad.reason for bad in batch.bad}


@pytest.mark.parametrize("wrap", [lambda each: each, with_schema], ids=["plain", "with schema"])
def test_rows_are_written_and_deleted_as_the_ops_say(wrap: Any) -> None:
    deletion = wrap(change("d", before={"id": 1, "first_name": None}))
    batch = decoded(
        debezium(CUSTOMERS),
        wrap(change("c", ANNE)),
        wrap(change("u", ANNE, ANNE)),
        wrap(change("r", ANNE)),
        deletion,
        None,
    )
    row = {name: ANNE[name] for name in ("id", "first_name", "email")}
    nothing = dict.fromkeys(row)
    assert batch.bad == ()
    assert batch.columns.to_pylist() == [row, row, row, nothing, nothing]
    assert batch.deletions is not None
    assert batch.deletions.rows.to_pylist() == [False, False, False, True, False]
    assert batch.deletions.keys is not None
    assert batch.deletions.keys.to_pylist() == [None, None, None, 1, None]


def test_a_change_that_is_no_row_is_bad_by_itself() -> None:
    batch = decoded(
        debezium(CUSTOMERS),
        change("c", ANNE),
        change("t"),
        change("m"),
        change("x", ANNE),
        change("u"),
        ANNE,
        {"schema": None, "payload": None},
        change("c", {"id": 2}),
        change("c", {**ANNE, "email": "__debezium_unavailable_value"}),
        change("c", {**ANNE, "id": "1"}),
        b"\x00\x00\x00\x00\x07{",
        b"[]",
    )
    expected = {
        1: 'op "t": the table was truncated, and the keys of its rows are not said; see to these by hand',
        2: 'op "m": a message of the database, and no change of a row',
        3: 'op "x": none of c, u, r and d',
        4: 'op "u" without a row in "after"',
        5: 'no change of a row: it has no "op"; records that are rows themselves are read with flattened',
        7: "first_name: is missing or null and must not be",
        9: "after.id: found a string where a number is expected",
        11: "no JSON object: []",
    }
    expected[6] = expected[5]
    found = reasons(batch)
    assert "set the REPLICA IDENTITY of the table to FULL" in found.pop(8)
    assert "records of a schema registry do (schema id 7)" in found.pop(10)
    assert found == expected
    assert batch.columns.num_rows == 12
    assert batch.deletions is None


def test_flattened_records_are_rows_that_say_whether_they_were_deleted() -> None:
    form = debezium(CUSTOMERS, flattened=True)
    gone = {**ANNE, "__deleted": "true", "__op": "d"}
    batch = decoded(form, ANNE, {**ANNE, "__deleted": "false"}, with_schema(gone, ROW_SCHEMA), gone, None)
    assert batch.bad == ()
    assert [row["email"] for row in batch.columns.to_pylist()] == [ANNE["email"]] * 2 + [None] * 3
    assert batch.deletions is not None
    assert batch.deletions.rows.to_pylist() == [False, False, True, True, False]
    assert batch.deletions.keys is not None
    assert batch.deletions.keys.to_pylist() == [None, None, 1, 1, None]


def test_a_value_that_the_database_did_not_say_is_bad_but_in_a_deletion() -> None:
    unsaid = "__debezium_unavailable_value"
    form = debezium("id INT, notes ARRAY<STRING>, data BINARY", flattened=True)
    written = b64encode(unsaid.encode()).decode()
    batch = decoded(
        form,
        {"id": 1, "notes": ["a"], "data": "AA=="},
        {"id": 2, "notes": ["a", unsaid]},
        {"id": 3, "notes": [], "data": written},
        {"id": 4, "notes": [unsaid], "data": written, "__deleted": "true"},
    )
    assert {place: reason.partition(":")[0] for place, reason in reasons(batch).items()} == {
        1: "notes",
        2: "data",
    }
    assert batch.keys("id").to_pylist() == [b"1", None, None, b"4"]


@pytest.mark.parametrize(
    ("kind", "unsaid", "others"),
    [
        ("ARRAY<BIGINT>", list(b"__debezium_unavailable_value"), [[], [95], list(b"_" * 28), None]),
        ("ARRAY<INT>", list(b"__debezium_unavailable_value"), [[None] * 28, [7] * 27]),
        ("ARRAY<STRING>", ["b68a35a7-17ad-35b3-af2a-ae46edb4545a"], [[None], []]),
        ("MAP<STRING, STRING>", {"__debezium_unavailable_value": "__debezium_unavailable_value"}, [{}, None]),
        ("STRING", '{"__debezium_unavailable_value":"__debezium_unavailable_value"}', ["{}", None]),
    ],
)
def test_what_stands_for_long_values_of_other_types_is_bad_as_well(
    kind: str, unsaid: Any, others: list[Any]
) -> None:
    form = debezium(f"id INT, long {kind}", flattened=True)
    values = [*others, unsaid, *others]
    batch = decoded(form, *({"id": number, "long": value} for number, value in enumerate(values)))
    assert list(reasons(batch)) == [len(others)]


def test_a_flattened_row_may_have_a_column_called_payload() -> None:
    batch = decoded(debezium("id INT, payload STRING", flattened=True), {"id": 1, "payload": "x"})
    assert batch.columns.to_pylist() == [{"id": 1, "payload": "x"}]


def test_no_key_and_no_record_are_no_trouble() -> None:
    form = open_format("debezium", parse_columns("id INT"))
    assert form.decode(pa.array([], pa.binary())).columns.to_pylist() == []
    batch = form.decode(pa.array([json.dumps(change("d", None, {"id": 3})).encode(), b"{}"]))
    assert batch.deletions is not None
    assert (batch.deletions.rows.to_pylist(), batch.deletions.keys) == ([True, False], None)


@pytest.mark.parametrize(
    ("kind", "key", "read"),
    [
        ("INT", b'{"id":7}', b"7"),
        ("INT", b' { "id" : 7 } ', b"7"),
        ("INT", json.dumps(with_schema({"id": 7}, KEY_SCHEMA)).encode(), b"7"),
        ("INT", b'{"schema":{"type":"int32","optional":false},"payload":7}', b"7"),
        ("INT", b"7", b"7"),
        ("STRING", b'{"id":"a \\"}\\u00e9"}', 'a "}é'.encode()),
        ("STRING", b'{"schema":{"type":"string"},"payload":"x\\"payload\\":"}', b'x"payload":'),
        ("STRING", b'"c1"', b"c1"),
        ("STRING", b"c1", b"c1"),
        ("STRING", b"\xff", b"\xff"),
        ("STRING", b"", b""),
        ("STRING", None, None),
        ("DATE", b'{"id":0}', b"1970-01-01"),
        ("STRING", b'{"id":1}', "its key: id: found a number where a string is expected"),
        ("STRING", b'"c', b'"c'),
        ("STRING", b'"c"d"', "its key: no JSON"),
        ("INT", b'{"id":1,"shop":2}', 'its key {"id":1,"shop":2} has not the one field id'),
        ("INT", b'{"key":1}', "has not the one field id; name a column for keys as they are (metadata.key)"),
        ("INT", b"{", "its key { has not the one field id"),
    ],
)
def test_a_key_is_read_as_rows_have_it(kind: str, key: bytes | None, read: bytes | str | None) -> None:
    form = debezium(f"id {kind}")
    keys, faults, _ = form.read_keys(pa.array([b"1", key, None], pa.binary()))
    if isinstance(read, str):
        assert (keys.to_pylist(), list(faults)) == ([b"1", None, None], [1])
        assert read in faults[1]
    else:
        assert (keys.to_pylist(), faults) == ([b"1", read, None], {})


def test_a_key_column_may_be_called_as_the_parts_of_a_wrapper() -> None:
    form = debezium("payload STRING, schema STRING", key="payload")
    wrapped = json.dumps(with_schema({"payload": "p"}, KEY_SCHEMA)).encode()
    assert form.read_keys(pa.array([b'{"payload":"p"}', wrapped])).keys.to_pylist() == [b"p", b"p"]
    form = debezium("payload STRING, schema STRING", key="schema")
    assert form.read_keys(pa.array([b'{"schema":"s"}'])).keys.to_pylist() == [b"s"]


class Kind(NamedTuple):
    """A column's type, its values, and how Debezium writes one."""

    ddl: str
    values: st.SearchStrategy[Any]
    written: Any


def precise(value: Decimal) -> str:
    """The two's complement of the number without its point, as Java's BigInteger gives it."""
    number = int(value.scaleb(3))
    size = next(size for size in range(1, 20) if -(1 << (8 * size - 1)) <= number < 1 << (8 * size - 1))
    return b64encode(number.to_bytes(size, "big", signed=True)).decode()


def test_times_are_read_as_each_mode_of_the_connector_writes_them() -> None:
    at, born = datetime(2026, 1, 31, 12, 0, 0, 123456), date(1969, 12, 31)  # noqa: DTZ001
    modes = {
        "nanoseconds": (1769860800123456789, -1),
        "isostring": ("2026-01-31T12:00:00.123456Z", "1969-12-31Z"),
    }
    for mode, (time, day) in modes.items():
        form = debezium("id INT, at TIMESTAMP_NTZ, born DATE, days ARRAY<DATE>", timestamps=mode)
        wrong = {"nanoseconds": "2026-01-31T12:00:00Z", "isostring": 1769860800123456789}[mode]
        batch = decoded(
            form,
            change("c", {"id": 1, "at": time, "born": day, "days": [day, None]}),
            change("c", {"id": 2}),
            change("c", {"id": 3, "at": wrong}),
        )
        first, second, _ = batch.columns.to_pylist()
        assert first == {"id": 1, "at": at, "born": born, "days": [born, None]}
        assert second == {"id": 2, "at": None, "born": None, "days": None}
        assert list(reasons(batch)) == [2]
        rows = batch.columns.slice(0, 2)
        assert form.decode(form.encode(rows)).columns.equals(rows)


MICROSECOND, EPOCH = timedelta(microseconds=1), datetime(1970, 1, 1)  # noqa: DTZ001
KINDS = [
    Kind("INT", st.integers(-(2**31), 2**31 - 1), int),
    Kind("STRING", TEXTS, str),
    Kind("BOOLEAN", st.booleans(), bool),
    Kind("DOUBLE", st.floats(allow_nan=False, allow_infinity=False), float),
    Kind("DATE", st.dates(), lambda day: day.toordinal() - EPOCH.toordinal()),
    Kind("TIMESTAMP_NTZ", st.datetimes(), lambda time: (time - EPOCH) // MICROSECOND),
    Kind(
        "TIMESTAMP",
        st.datetimes(timezones=st.just(UTC)),
        lambda time: time.strftime("%Y-%m-%dT%H:%M:%S.%fZ").rjust(27, "0"),
    ),
    Kind("DECIMAL(20, 3)", st.decimals(-(10**16), 10**16, places=3), precise),
    Kind("BINARY", st.binary(max_size=5), lambda value: b64encode(value).decode()),
    Kind(
        "ARRAY<DATE>", st.lists(st.dates(), max_size=2), lambda days: [KINDS[4].written(day) for day in days]
    ),
]
OPTIONS = {"timestamps": "microseconds", "decimals": "base64"}


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[Kind], list[tuple[str, list[Any], bool]]]:
    """Kinds of columns beside the key, and changes: the op, the row and whether its schema is beside it."""
    kinds = draw(st.lists(st.sampled_from(KINDS), max_size=4))
    row = st.tuples(st.integers(0, 3), *(st.none() | kind.values for kind in kinds)).map(list)
    ops = st.sampled_from(["c", "u", "r", "d", "tombstone", "t", "broken"])
    return kinds, draw(st.lists(st.tuples(ops, row, st.booleans()), max_size=12))


@settings(max_examples=share(1))
@given(made=tables(), flattened=st.booleans())
def test_random_changes_beside_a_model(
    made: tuple[list[Kind], list[tuple[str, list[Any], bool]]], flattened: bool
) -> None:
    kinds, changes = made
    names = ["id", *(f"c{number}" for number in range(len(kinds)))]
    columns = ", ".join(
        f"{name} {ddl}" for name, ddl in zip(names, ["INT", *(k.ddl for k in kinds)], strict=True)
    )
    form = debezium(columns, **OPTIONS, flattened=flattened)
    records, rows, deleted, bad = [], [], [], []
    for place, (op, values, wrapped) in enumerate(changes):
        written = dict(
            zip(
                names,
                [
                    values[0],
                    *(None if v is None else k.written(v) for k, v in zip(kinds, values[1:], strict=True)),
                ],
                strict=True,
            )
        )
        record: Any = written | {"__deleted": "true" if op == "d" else "false"}
        if not flattened:
            record = change(op, None if op in "dt" else written, written if op in "du" else None)
        record = with_schema(record) if wrapped else record
        is_bad = op == "broken" or (op == "t" and not flattened)
        records.append(None if op == "tombstone" else b'{"op' if op == "broken" else record)
        bad += [place] * is_bad
        deleted.append(values[0] if op == "d" else None)
        rows.append(
            dict.fromkeys(names)
            if is_bad or op in ("d", "tombstone")
            else dict(zip(names, values, strict=True))
        )
    batch = decoded(form, *records)
    assert list(reasons(batch)) == bad
    assert batch.columns.to_pylist() == rows
    keys = batch.deletions.keys if batch.deletions else None
    assert (keys.to_pylist() if keys is not None else [None] * len(rows)) == deleted


@settings(max_examples=share(1))
@given(made=tables(), flattened=st.booleans())
def test_rows_that_a_test_writes_come_back(
    made: tuple[list[Kind], list[tuple[str, list[Any], bool]]], flattened: bool
) -> None:
    kinds, changes = made
    columns = ", ".join(["id INT", *(f"c{number} {kind.ddl}" for number, kind in enumerate(kinds))])
    form = debezium(columns, **OPTIONS, flattened=flattened)
    arrays = [
        pa.array([row[place] for _, row, _ in changes], field.type) for place, field in enumerate(form.schema)
    ]
    batch = form.decode(form.encode(pa.RecordBatch.from_arrays(arrays, schema=form.schema)))
    assert (batch.bad, batch.deletions) == ((), None)
    assert batch.columns.to_pylist() == [
        dict(zip(form.schema.names, row, strict=True)) for _, row, _ in changes
    ]


@pytest.mark.parametrize(
    ("columns", "options", "written", "read"),
    [
        ("a TIMESTAMP_NTZ", {"timestamps": "milliseconds"}, 1_500, EPOCH + 1_500_000 * MICROSECOND),
        ("a TIMESTAMP", {}, "2026-01-31T12:00:00+02:00", datetime(2026, 1, 31, 10, tzinfo=UTC)),
        ("a DECIMAL(5, 2)", {"decimals": "text"}, "1.5", Decimal("1.50")),
        ("a DECIMAL(5, 2)", {"decimals": "text"}, 1.5, Decimal("1.50")),
        (
            "a STRUCT<scale: INT, value: BINARY>",
            {},
            {"scale": 1, "value": "Dw=="},
            {"scale": 1, "value": b"\x0f"},
        ),
        ("a MAP<STRING, STRING>", {}, {"k": "v"}, [("k", "v")]),
        ("a TIMESTAMP", {}, 1_500, "after.a: found a number where a string is expected"),
        ("a DATE", {}, "2026-01-31", "after.a: found a string where a number is expected"),
        (
            "a DECIMAL(5, 2)",
            {"decimals": "base64"},
            "1.5",
            "after: a: no base64: its length is no multiple of four",
        ),
        (
            "a DECIMAL(3, 2)",
            {"decimals": "base64"},
            "J/8=",
            "after: a: Decimal value does not fit in precision 3",
        ),
    ],
)
def test_a_value_is_what_the_column_and_the_options_say(
    columns: str, options: dict[str, Any], written: Any, read: Any
) -> None:
    batch = decoded(debezium(columns, **options), change("c", {"a": written}))
    if isinstance(read, str):
        assert read in reasons(batch)[0]
    else:
        assert (batch.bad, batch.columns.to_pylist()) == ((), [{"a": read}])
