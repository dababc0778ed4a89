"""Column lists and rows for them, as Hypothesis makes them."""

import datetime as dt
from typing import Any, NamedTuple

import pyarrow as pa
from hypothesis import strategies as st

from streamapp.spec.value_types.column_list import Column, parse_columns
from streamapp_runtime.formats.arrow_types import arrow_schema


class Kind(NamedTuple):
    """A type as a column list spells it, and its values."""

    ddl: str
    values: st.SearchStrategy[Any]


class Rows(NamedTuple):
    """A column list and rows of it."""

    columns: tuple[Column, ...]
    batch: pa.RecordBatch


def _whole(bits: int) -> st.SearchStrategy[int]:
    return st.integers(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


TEXTS = st.text(max_size=8) | st.text('"\\/\n\r\t\b\f\0\x1f\x7fé€😀\u2028', max_size=8)
_DAYS = st.dates()
_MOMENTS = st.datetimes()

NAMES = [
    Kind("STRING", TEXTS),
    Kind("INT", _whole(32)),
    Kind("BIGINT", _whole(64)),
    Kind("BOOLEAN", st.booleans()),
    Kind("DATE", _DAYS),
    Kind("DOUBLE", st.floats(allow_nan=False)),
    Kind("BINARY", st.binary(max_size=4)),
    Kind("DECIMAL(5, 2)", st.decimals(-999, 999, places=2)),
]
"""What can be a map's key: NaN cannot, for it equals nothing."""

FLAT = [
    *NAMES,
    Kind("TINYINT", _whole(8)),
    Kind("SMALLINT", _whole(16)),
    Kind("FLOAT", st.floats(width=32)),
    Kind("DOUBLE", st.floats()),
    Kind("DECIMAL(38, 10)", st.decimals(-(10**20), 10**20, places=10)),
    Kind("DECIMAL(20)", st.integers(-(10**19), 10**19)),
    Kind("TIMESTAMP", _MOMENTS.map(lambda moment: moment.replace(tzinfo=dt.UTC))),
    Kind("TIMESTAMP_NTZ", _MOMENTS),
]


def kinds(keys: list[Kind] = NAMES) -> st.SearchStrategy[Kind]:
    """Types of any depth, maps with keys of the given ones."""
    return st.recursive(
        st.sampled_from(FLAT),
        lambda inner: st.one_of(
            inner.map(_array),
            st.tuples(st.sampled_from(keys), inner).map(lambda pair: _map(*pair)),
            st.lists(inner, min_size=1, max_size=3).map(_struct),
        ),
        max_leaves=4,
    )


def _array(inner: Kind) -> Kind:
    return Kind(f"ARRAY<{inner.ddl}>", st.lists(_or_none(inner), max_size=3))


def _map(key: Kind, value: Kind) -> Kind:
    entries = st.lists(st.tuples(key.values, _or_none(value)), max_size=3, unique_by=lambda entry: entry[0])
    return Kind(f"MAP<{key.ddl}, {value.ddl}>", entries)


def _struct(inner: list[Kind]) -> Kind:
    fields = ", ".join(f"f{at}: {each.ddl}" for at, each in enumerate(inner))
    values = st.fixed_dictionaries({f"f{at}": _or_none(each) for at, each in enumerate(inner)})
    return Kind(f"STRUCT<{fields}>", values)


def _or_none(kind: Kind) -> st.SearchStrategy[Any]:
    return st.none() | kind.values


@st.composite
def rows(draw: st.DrawFn, keys: list[Kind] = NAMES) -> Rows:
    """Some rows of some columns, with nulls."""
    chosen = draw(st.lists(kinds(keys), min_size=1, max_size=4))
    columns = parse_columns(", ".join(f"c{at} {kind.ddl}" for at, kind in enumerate(chosen)))
    names = [column.name for column in columns]
    row = st.fixed_dictionaries({n: _or_none(kind) for n, kind in zip(names, chosen, strict=True)})
    found = draw(st.lists(row, max_size=6))
    return Rows(columns, pa.RecordBatch.from_pylist(found, schema=arrow_schema(columns)))


def shown(batch: pa.RecordBatch) -> str:
    """The rows as text, so that NaN is like NaN and 0.0 is not like -0.0."""
    return repr(batch.to_pylist())
