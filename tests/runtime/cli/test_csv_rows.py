"""Rows of CSV become the JSON objects that one would write by hand."""

import csv
import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamapp_runtime.cli.record_input.csv_rows import read_rows
from streamapp_runtime.rows.lines import UnusableLineError

Rows = list[tuple[bytes | None, dict[str, object]]]


def rows_of(content: str, key: str | None = None) -> Rows:
    found: Rows = []
    for keys, values in read_rows(io.BytesIO(content.encode()), key):
        found += zip(keys.to_pylist(), map(json.loads, values.to_pylist()), strict=True)
    return found


def test_numbers_and_truth_values_stay_such_and_the_rest_is_text() -> None:
    content = "user,age,ok,zip\nann,1.50,true,007\nbob,-2,false,80331\n"
    assert [value for _, value in rows_of(content)] == [
        {"user": "ann", "age": 1.5, "ok": True, "zip": "007"},
        {"user": "bob", "age": -2, "ok": False, "zip": "80331"},
    ]


def test_the_key_is_the_text_of_its_column() -> None:
    assert [key for key, _ in rows_of("user,age\nann,1\n,2\n", "user")] == [b"ann", None]
    assert [key for key, _ in rows_of("user,age\nann,1\n", "age")] == [b"1"]


def test_an_empty_field_is_null_and_a_quoted_empty_one_is_empty_text() -> None:
    assert [value for _, value in rows_of('a,b\n,""\nx,y\n')] == [{"a": None, "b": ""}, {"a": "x", "b": "y"}]


def test_a_header_alone_gives_nothing() -> None:
    assert rows_of("a,b\n") == []


@pytest.mark.parametrize("content", ["", "\n", "a,a\n1,2\n", "a,,b\n1,2,3\n"])
def test_a_first_line_that_names_no_columns_is_told(content: str) -> None:
    with pytest.raises(UnusableLineError, match="first line"):
        rows_of(content)


def test_a_row_of_another_length_is_told() -> None:
    with pytest.raises(UnusableLineError, match="2 columns"):
        rows_of("a,b\n1,2\n1,2,3\n")


def test_a_key_column_that_is_not_there_is_told_beside_those_that_are() -> None:
    with pytest.raises(UnusableLineError, match='no column "usr"; the header names user, age'):
        rows_of("user,age\nann,1\n", "usr")


def test_text_in_a_later_block_of_a_column_of_numbers_is_named_by_its_row() -> None:
    content = "a,b\n" + f"1,{'y' * 1_000}\n" * 5_000 + "x,y\n"
    with pytest.raises(UnusableLineError, match=r"row 5001.*'x'"):
        rows_of(content)


words = st.text(
    st.characters(blacklist_categories=["Cs"], blacklist_characters="\0\r"), min_size=1, max_size=8
)


@given(st.lists(st.tuples(words, words), min_size=1))
def test_any_text_comes_through(rows: list[tuple[str, str]]) -> None:
    written = io.StringIO()
    writer = csv.writer(written, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerows([("a", "b"), *(("text " + one, "text " + other) for one, other in rows)])
    found = [value for _, value in rows_of(written.getvalue())]
    assert found == [{"a": "text " + one, "b": "text " + other} for one, other in rows]
