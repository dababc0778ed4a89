"""Lines come out of any stream of bytes as they went in, whatever blocks it is cut into."""

import io
import json

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamapp_runtime.cli.record_input.json_lines import with_keys
from streamapp_runtime.rows.lines import Lines, UnusableLineError, read_lines

lines_of_bytes = st.lists(
    st.binary(max_size=30).map(lambda line: line.replace(b"\n", b"").replace(b"\r", b""))
)


class Dripping(io.BytesIO):
    """Gives a few bytes at a time, as a pipe may."""

    def __init__(self, content: bytes, step: int) -> None:
        super().__init__(content)
        self.step = step

    def read1(self, size: int | None = -1, /) -> bytes:
        return super().read1(self.step)


@given(lines_of_bytes, st.integers(1, 50), st.sampled_from([b"\n", b"\r\n"]), st.booleans())
def test_lines_are_kept_byte_for_byte_and_numbered(
    lines: list[bytes], step: int, end: bytes, ended: bool
) -> None:
    content = end.join(lines) + (end if ended else b"")
    expected = content.replace(b"\r\n", b"\n").split(b"\n")
    if expected[-1] == b"":
        del expected[-1]
    found: list[bytes] = []
    for block in read_lines(Dripping(content, step)):
        assert block.first == len(found) + 1
        found += block.values.to_pylist()
    assert found == expected


def keys_of(*lines: str, key: str | None = "user") -> list[bytes | None]:
    (block,) = read_lines(io.BytesIO("".join(line + "\n" for line in lines).encode()))
    keys, values = with_keys(block, key)
    assert values.to_pylist() == [line.encode() for line in lines if line.strip()]
    return keys.to_pylist()


def test_a_key_is_the_text_of_its_column() -> None:
    assert keys_of('{"user":"ann"}', ' {"n": 1, "user": "b\\u00f6b" }') == [b"ann", "böb".encode()]


def test_whole_numbers_are_keys_too() -> None:
    assert keys_of('{"user":1}', '{"user":-20}', '{"user":null}') == [b"1", b"-20", None]


def test_keys_of_mixed_kinds_are_taken_line_by_line() -> None:
    assert keys_of('{"user":1}', '{"user":"1"}', '{"user":1.50}', '{"user":true}', '{"user":{"a": [1]}}') == [
        b"1",
        b"1",
        b"1.5",
        b"true",
        b'{"a":[1]}',
    ]


def test_a_line_without_the_column_has_no_key() -> None:
    assert keys_of('{"user":"ann"}', "{}", '{"user":null}') == [b"ann", None, None]


def test_blank_lines_are_left_out() -> None:
    assert keys_of('{"user":"ann"}', "", "  ", '{"user":"bob"}') == [b"ann", b"bob"]


def test_without_a_key_column_nothing_is_parsed() -> None:
    assert keys_of("not json", key=None) == [None]


@pytest.mark.parametrize("wrong", ["nope", '{"user":"a"} {"user":"b"}', "[1]", '"text"', '{"user":'])
def test_a_line_that_is_no_object_is_named_by_its_number(wrong: str) -> None:
    with pytest.raises(UnusableLineError, match="line 3 "):
        keys_of('{"user":"ann"}', "", wrong)


@given(st.lists(st.one_of(st.none(), st.text(), st.integers(-(2**70), 2**70)), min_size=1))
def test_keys_agree_with_the_standard_parser(users: list[str | int | None]) -> None:
    lines = [json.dumps({"n": number, "user": user}) for number, user in enumerate(users)]
    assert keys_of(*lines) == [None if user is None else str(user).encode() for user in users]


def test_an_empty_block_has_no_keys() -> None:
    keys, values = with_keys(Lines(pa.array([b""], pa.binary()), 1), "user")
    assert (len(keys), len(values)) == (0, 0)
