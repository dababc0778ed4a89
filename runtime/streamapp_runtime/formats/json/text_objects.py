"""JSON objects made of columns of texts, without an object for each row."""

import json
from collections.abc import Mapping
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

LITERAL: Final = r"^(-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?|true|false)$"
"""Texts that are numbers or truth values of JSON as they stand."""
_TO_ESCAPE: Final = r'["\\\x00-\x1f]'


def text_objects(columns: Mapping[str, pa.StringArray]) -> pa.StringArray:
    """An object of each row, whose fields are texts of JSON; what is null is null there too."""
    pieces: list[pa.StringArray | str] = []
    for place, (name, column) in enumerate(columns.items()):
        pieces.append(("{" if place == 0 else ",") + json.dumps(name, ensure_ascii=False) + ":")
        pieces.append(pc.fill_null(column, "null"))
    return pc.binary_join_element_wise(*pieces, "}", "")


def with_fields(lines: pa.BinaryArray, columns: Mapping[str, pa.StringArray]) -> pa.BinaryArray:
    """The objects of lines with further fields before their own; what is no object stays as it is."""
    if not columns:
        return lines
    fields = pc.binary_slice(text_objects(columns).cast(pa.binary()), 1, -1)
    is_empty = pc.match_substring_regex(lines, rb"^\s*\{\s*\}")
    is_object = pc.match_substring_regex(lines, rb"^\s*\{")
    rest = pc.replace_substring_regex(lines, rb"^\s*\{", b"", max_replacements=1)
    separator = pc.if_else(is_empty, b"", b",")
    return pc.if_else(is_object, pc.binary_join_element_wise(b"{", fields, separator, rest, b""), lines)


def quoted(column: pa.StringArray) -> pa.StringArray:
    """The texts as strings of JSON."""
    if pc.any(pc.match_substring_regex(column, _TO_ESCAPE)).as_py():
        texts = [
            None if text is None else json.dumps(text, ensure_ascii=False) for text in column.to_pylist()
        ]
        return pa.array(texts, pa.string())
    return pc.binary_join_element_wise('"', column, '"', "")


def literal_or_quoted(column: pa.StringArray) -> pa.StringArray:
    """The texts that are literals of JSON as they are, and others as strings."""
    return pc.if_else(pc.match_substring_regex(column, LITERAL), column, quoted(column))
