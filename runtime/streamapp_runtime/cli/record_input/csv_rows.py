"""Rows of a CSV file as JSON objects, the form that streams are read in.

The first line names the columns. A column holds numbers, or true and false, if all of its values in the first
block are such; they keep their spelling. An empty field is null.
"""

import csv
import json
from collections.abc import Iterator
from io import BufferedIOBase

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from streamapp_runtime.cli.record_input.lines import UnusableLineError

_LITERAL = r"^(-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?|true|false)$"
_TO_ESCAPE = r'["\\\x00-\x1f]'
_BLOCK_BYTES = 4 << 20


def read_rows(source: BufferedIOBase, key: str | None) -> Iterator[tuple[pa.BinaryArray, pa.BinaryArray]]:
    """Keys and values, a block at a time."""
    names = _names(source.readline())
    if key is not None and key not in names:
        raise UnusableLineError(f'no column "{key}"; the header names {", ".join(names)}')
    literal: dict[str, bool] = {}
    row = 1
    for batch in _batches(source, names):
        columns = dict(zip(names, batch.columns, strict=True))
        literal = literal or {name: _is_literal(column) for name, column in columns.items()}
        _check(columns, literal, row)
        row += batch.num_rows
        keys = pa.nulls(batch.num_rows, pa.string()) if key is None else columns[key]
        yield keys.cast(pa.binary()), _objects(columns, literal).cast(pa.binary())


def _names(header: bytes) -> list[str]:
    try:
        names = next(csv.reader([header.decode("utf-8-sig").rstrip("\r\n")]), [])
    except UnicodeDecodeError:
        raise UnusableLineError("the first line is not UTF-8 text; it should name the columns") from None
    if not names or len(set(names)) < len(names) or "" in names:
        raise UnusableLineError(f"the first line should name the columns, each once; found {names}")
    return names


def _batches(source: BufferedIOBase, names: list[str]) -> Iterator[pa.RecordBatch]:
    reading = pa.csv.ReadOptions(use_threads=False, block_size=_BLOCK_BYTES, column_names=names)
    parsing = pa.csv.ParseOptions(newlines_in_values=True)
    converting = pa.csv.ConvertOptions(
        column_types=dict.fromkeys(names, pa.string()),
        null_values=[""],
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
    )
    try:
        yield from pa.csv.open_csv(
            source, read_options=reading, parse_options=parsing, convert_options=converting
        )
    except pa.ArrowInvalid as error:
        if "Empty CSV file" not in str(error):
            raise UnusableLineError(f"not a CSV file of {len(names)} columns: {error}") from None


def _is_literal(column: pa.StringArray) -> bool:
    filled = column.drop_null()
    return bool(len(filled)) and bool(pc.all(pc.match_substring_regex(filled, _LITERAL)).as_py())


def _check(columns: dict[str, pa.StringArray], literal: dict[str, bool], row: int) -> None:
    for name, column in columns.items():
        if literal[name]:
            fits = pc.fill_null(pc.match_substring_regex(column, _LITERAL), True)
            bad_place = pc.index(fits, False).as_py()
            if bad_place >= 0:
                raise UnusableLineError(
                    f'row {row + bad_place}: the column "{name}" held numbers so far, and here is '
                    f"{column[bad_place].as_py()!r}"
                )


def _objects(columns: dict[str, pa.StringArray], literal: dict[str, bool]) -> pa.StringArray:
    pieces: list[pa.StringArray | str] = []
    for place, (name, column) in enumerate(columns.items()):
        pieces.append(("{" if place == 0 else ",") + json.dumps(name, ensure_ascii=False) + ":")
        text = column if literal[name] else _quoted(column)
        pieces.append(pc.fill_null(text, "null"))
    return pc.binary_join_element_wise(*pieces, "}", "")


def _quoted(column: pa.StringArray) -> pa.StringArray:
    if pc.any(pc.match_substring_regex(column, _TO_ESCAPE)).as_py():
        texts = [
            None if text is None else json.dumps(text, ensure_ascii=False) for text in column.to_pylist()
        ]
        return pa.array(texts, pa.string())
    return pc.binary_join_element_wise('"', column, '"', "")
