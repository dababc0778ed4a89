"""Escaping and base64 beside the standard library's."""

import base64
import binascii
import json

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamapp_runtime.formats.json import base64_text
from streamapp_runtime.formats.json.string_escaping import escape_strings
from streamapp_runtime.formats.record_format import UndecodableError
from tests.harness.engine.typed_values import TEXTS


@given(texts=st.lists(st.none() | TEXTS), start=st.integers(0, 3))
def test_escaped_texts_are_what_another_reader_reads_back(texts: list[str | None], start: int) -> None:
    found = escape_strings(pa.array(texts, pa.string()).slice(start)).to_pylist()
    assert [None if text is None else json.loads(f'"{text}"') for text in found] == texts[start:]


def test_texts_without_special_characters_are_not_even_copied() -> None:
    texts = pa.array(["plain", None, "é€😀"])
    assert escape_strings(texts) is texts


@given(values=st.lists(st.none() | st.binary(max_size=10)), start=st.integers(0, 3))
def test_base64_is_the_standard_one(values: list[bytes | None], start: int) -> None:
    column = pa.array(values, pa.binary()).slice(start)
    text = base64_text.to_text(column)
    assert text.to_pylist() == [
        None if value is None else base64.b64encode(value).decode() for value in values[start:]
    ]
    assert base64_text.from_text(text).to_pylist() == values[start:]


@given(texts=st.lists(st.text("Aa+/=-_ ", max_size=8), min_size=1, max_size=3))
def test_what_is_no_base64_is_refused_and_nothing_else(texts: list[str]) -> None:
    try:
        wanted = [binascii.a2b_base64(text, strict_mode=True) for text in texts]
    except ValueError:
        with pytest.raises(UndecodableError):
            base64_text.from_text(pa.array(texts))
        return
    assert base64_text.from_text(pa.array(texts)).to_pylist() == wanted


def test_bytes_hidden_under_a_null_do_not_count() -> None:
    hidden = pa.Array.from_buffers(
        pa.string(),
        3,
        [
            pa.py_buffer(b"\x05"),
            pa.py_buffer(b"\0\0\0\0\4\0\0\0\7\0\0\0\x0b\0\0\0"),
            pa.py_buffer(b"YQ==???YWI="),
        ],
    )
    assert base64_text.from_text(hidden).to_pylist() == [b"a", None, b"ab"]
