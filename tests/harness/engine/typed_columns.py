"""Typed columns of any kind, as Hypothesis makes them."""

import datetime as dt
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

Values = st.SearchStrategy[Any]

_EPOCH = dt.datetime(1970, 1, 1)  # noqa: DTZ001
_MOMENTS = st.integers(-(2**52), 2**52).map(lambda n: _EPOCH + dt.timedelta(microseconds=n))


def _whole(bits: int) -> Values:
    return st.integers(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


FLAT: dict[pa.DataType, Values] = {
    pa.bool_(): st.booleans(),
    pa.int8(): _whole(8),
    pa.int16(): _whole(16),
    pa.int32(): _whole(32),
    pa.int64(): _whole(64),
    pa.float32(): st.floats(width=32),
    pa.float64(): st.floats(),
    pa.string(): st.text(max_size=5) | st.text("a\0", max_size=4),
    pa.large_string(): st.text(max_size=3),
    pa.binary(): st.binary(max_size=5) | st.lists(st.sampled_from([0, 1, 255]), max_size=5).map(bytes),
    pa.date32(): st.dates(),
    pa.timestamp("us"): _MOMENTS,
    pa.timestamp("us", "UTC"): _MOMENTS.map(lambda moment: moment.replace(tzinfo=dt.UTC)),
    pa.duration("us"): st.timedeltas(dt.timedelta(-9_999), dt.timedelta(9_999)),
    pa.decimal128(38, 10): st.decimals(-(10**20), 10**20, places=10),
    pa.decimal128(5, 2): st.decimals(-999, 999, places=2),
}


def nested(kind: pa.DataType, values: Values) -> list[tuple[pa.DataType, Values]]:
    """Kinds that hold another one."""
    items = st.none() | values
    return [
        (pa.list_(pa.field("element", kind)), st.lists(items, max_size=3)),
        (pa.large_list(kind), st.lists(items, max_size=3)),
        (
            pa.struct([pa.field("one", kind), pa.field("two", pa.string())]),
            st.fixed_dictionaries({"one": items, "two": st.none() | st.text(max_size=3)}),
        ),
        (
            pa.map_(pa.string(), kind),
            st.lists(st.tuples(st.text(max_size=3), items), max_size=3),
        ),
    ]


def kinds(draw: Callable[[Values], Any], depth: int) -> tuple[pa.DataType, Values]:
    """Draw a kind and how its values are made."""
    kind, values = draw(st.sampled_from(list(FLAT.items())))
    for _ in range(draw(st.integers(0, depth))):
        kind, values = draw(st.sampled_from(nested(kind, values)))
    return kind, values


@st.composite
def batches(draw: Callable[[Values], Any], depth: int = 0, most_columns: int = 10) -> pa.RecordBatch:
    """A batch of nullable columns, often a slice of a longer one."""
    drawn = [kinds(draw, depth) for _ in range(draw(st.integers(1, most_columns)))]
    schema = pa.schema([(f"c{number}", kind) for number, (kind, _) in enumerate(drawn)])
    count = draw(st.integers(0, 8))
    columns = [
        pa.array(draw(st.lists(st.none() | values, min_size=count, max_size=count)), kind)
        for kind, values in drawn
    ]
    start = draw(st.integers(0, count))
    return pa.RecordBatch.from_arrays(columns, schema=schema).slice(start, draw(st.integers(0, count)))


def plain(value: object) -> object:
    """A value by which NaN equals itself."""
    if isinstance(value, float):
        return "NaN" if value != value else value  # noqa: PLR0124
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, tuple):
        return tuple(plain(item) for item in value)
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items()}
    return value if not isinstance(value, Decimal) else str(value)
