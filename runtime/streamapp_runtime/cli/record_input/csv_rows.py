"""Rows of a CSV file as JSON objects, the form that streams are read in.

The first line names the columns. A column holds numbers, or true and false, if all of its values in the first
block are such; they keep their spelling. An empty field is null.
"""

import csv
from collections.abc import Iterator
from io import BufferedIOBase

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from streamapp_runtime.formats.json.text_objects import LITERAL, quoted, text_objects
from streamapp_runtime.rows.lines import UnusableLineError

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
        texts = {name: column if literal[name] else quoted(column) for name, column in columns.items()}
        yield keys.cast(pa.binary()), text_objects(texts).cast(pa.binary())


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
    return bool(len(filled)) and bool(pc.all(pc.match_substring_regex(filled, LITERAL)).as_py())


def _check(columns: dict[str, pa.StringArray], literal: dict[str, bool], row: int) -> None:
    for name, column in columns.items():
        if literal[name]:
            fits = pc.fill_null(pc.match_substring_regex(column, LITERAL), True)
            bad_place = pc.index(fits, False).as_py()
            if bad_place >= 0:
                raise UnusableLineError(
                    f'row {row + bad_place}: the column "{name}" held numbers so far, and here is '
                    f"{column[bad_place].as_py()!r}"
                )
