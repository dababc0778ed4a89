import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamapp.control.message import Kind
from streamapp_runtime.formats.envelope import UNKNOWN, enclose, open_all

VALUES = st.lists(st.none() | st.binary(max_size=5))


@given(values=VALUES, message=st.sampled_from(Kind), start=st.integers(0, 3))
def test_what_was_enclosed_comes_out_with_its_type(
    values: list[bytes | None], message: Kind, start: int
) -> None:
    enclosed = enclose(pa.array(values, pa.binary()), message).slice(start)
    opened = open_all(enclosed)
    assert opened.values.to_pylist() == values[start:]
    assert opened.types.tolist() == [Kind.USER if value is None else message for value in values[start:]]


def test_the_first_byte_tells_the_type_and_an_empty_value_has_none() -> None:
    opened = open_all(pa.array([b"\x00a", b"\x01b", b"\x02", b"", b"\x07c"]))
    assert opened.types.tolist() == [Kind.USER, Kind.WATERMARK, Kind.END_OF_STREAM, UNKNOWN, 7]
    assert opened.values.to_pylist() == [b"a", b"b", b"", b"", b"c"]


@pytest.mark.parametrize(("message", "byte"), [(Kind.USER, 0), (Kind.WATERMARK, 1), (Kind.END_OF_STREAM, 2)])
def test_the_numbers_of_the_types_are_kept_for_ever(message: Kind, byte: int) -> None:
    assert enclose(pa.array([b"x"]), message).to_pylist() == [bytes([byte]) + b"x"]
