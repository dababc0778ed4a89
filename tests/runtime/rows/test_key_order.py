"""The bytes of keys are in the order of the keys, nulls first, and read back as the same keys."""

from math import isnan
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamapp_runtime.rows import keys
from streamapp_runtime.rows.row_form import RowFormError
from tests.harness.engine.typed_columns import batches, plain


def compared(one: tuple[Any, ...], other: tuple[Any, ...]) -> int:
    """Column by column."""
    for left, right in zip(map(rank, one), map(rank, other), strict=True):
        if left != right:
            return -1 if left < right else 1
    return 0


def rank(value: Any) -> tuple[int, Any]:
    """Null, then values in their order, then NaN."""
    if value is None:
        return 0, 0
    if isinstance(value, float) and isnan(value):
        return 2, 0
    return 1, value.encode() if isinstance(value, str) else value


@settings(deadline=None, max_examples=300)
@given(batches(most_columns=3))
def test_bytes_are_in_the_order_of_the_keys(batch: pa.RecordBatch) -> None:
    rows = [tuple(row.values()) for row in batch.to_pylist()]
    encoded = keys.encode(batch, batch.schema).to_pylist()
    for one, left in zip(rows, encoded, strict=True):
        for other, right in zip(rows, encoded, strict=True):
            assert (left > right) - (left < right) == compared(one, other)


@settings(deadline=None, max_examples=300)
@given(batches(most_columns=4))
def test_keys_come_back(batch: pa.RecordBatch) -> None:
    found = keys.decode(keys.encode(batch, batch.schema), batch.schema)
    found.validate(full=True)
    assert plain(found.to_pylist()) == plain(batch.to_pylist())


@settings(deadline=None)
@given(batches(most_columns=4), st.data())
def test_the_first_columns_of_a_key_are_a_prefix_of_it(batch: pa.RecordBatch, data: st.DataObject) -> None:
    first = batch.select(batch.schema.names[: data.draw(st.integers(1, batch.num_columns))])
    prefixes = keys.encode(first, first.schema).to_pylist()
    whole = keys.encode(batch, batch.schema).to_pylist()
    for prefix, key in zip(prefixes, whole, strict=True):
        assert key.startswith(prefix)
        end = keys.prefix_end(prefix)
        assert end is not None
        assert prefix <= key < end


@given(st.binary(max_size=4), st.binary(max_size=5))
def test_what_comes_before_a_prefixs_end_and_not_before_it_has_it(prefix: bytes, key: bytes) -> None:
    end = keys.prefix_end(prefix)
    assert key.startswith(prefix) == (prefix <= key and (end is None or key < end))


def test_zero_and_minus_zero_are_one_key() -> None:
    batch = pa.record_batch({"n": pa.array([0.0, -0.0])})
    one, other = keys.encode(batch, batch.schema).to_pylist()
    assert one == other


@given(st.binary(max_size=12))
def test_bytes_that_are_no_key_are_refused_or_read(content: bytes) -> None:
    schema = pa.schema([("a", pa.string()), ("b", pa.int16()), ("c", pa.binary())])
    try:
        keys.decode(pa.array([content], pa.binary()), schema).validate(full=True)
    except RowFormError as error:
        assert "of a key" in str(error) or "no key" in str(error)


def test_a_list_cannot_be_part_of_a_key() -> None:
    batch = pa.record_batch({"a": pa.array([[1]])})
    with pytest.raises(RowFormError, match="cannot be part of a key"):
        keys.encode(batch, batch.schema)
