import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamapp.control.control_message import MessageKind
from streamapp_runtime.formats.message_envelope import UNKNOWN, close_envelopes, open_envelopes

VALUES = st.lists(st.none() | st.binary(max_size=5))


@given(values=VALUES, message=st.sampled_from(MessageKind), start=st.integers(0, 3))
def test_what_was_enclosed_comes_out_with_its_type(
    values: list[bytes | None], message: MessageKind, start: int
) -> None:
    enclosed = close_envelopes(pa.array(values, pa.binary()), message).slice(start)
    opened = open_envelopes(enclosed)
    assert opened.values.to_pylist() == values[start:]
    assert opened.types.tolist() == [
        MessageKind.USER if value is None else message for value in values[start:]
    ]


def test_the_first_byte_tells_the_type_and_an_empty_value_has_none() -> None:
    opened = open_envelopes(pa.array([b"\x00a", b"\x01b", b"\x02", b"", b"\x07c"]))
    assert opened.types.tolist() == [
        MessageKind.USER,
        MessageKind.WATERMARK,
        MessageKind.END_OF_STREAM,
        UNKNOWN,
        7,
    ]
    assert opened.values.to_pylist() == [b"a", b"b", b"", b"", b"c"]


@pytest.mark.parametrize(
    ("message", "byte"), [(MessageKind.USER, 0), (MessageKind.WATERMARK, 1), (MessageKind.END_OF_STREAM, 2)]
)
def test_the_numbers_of_the_types_are_kept_for_ever(message: MessageKind, byte: int) -> None:
    assert close_envelopes(pa.array([b"x"]), message).to_pylist() == [bytes([byte]) + b"x"]
