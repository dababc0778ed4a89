"""Judges records one by one, for a batch that could not be read as a whole.

Arrow's reader names at most one bad record, and starting it takes as long as judging dozens here. Only what
that reader is certain to refuse is refused here, so that a record fares the same whatever stands beside it;
where both may disagree, nothing is said and the reader is asked about smaller and smaller pieces.
"""

import json
import re

import pyarrow as pa

from streamapp.spec.problem import nearest
from streamapp_runtime.formats.json.arrow_messages import article
from streamapp_runtime.formats.json.lossless_json import JsonNumber, JsonObject, parse_lossless

_whole = re.compile(r"-?\d{1,19}")


def refused_rows(values: pa.BinaryArray, read: pa.Schema, *, strict: bool = False) -> dict[int, str]:
    """The rows that the reader must refuse, and why; it may refuse others as well."""
    columns = {field.name: field.type for field in read}
    verdicts = ((row, _verdict(value, columns, strict)) for row, value in enumerate(values.to_pylist()))
    return {row: verdict for row, verdict in verdicts if verdict}


def _verdict(value: bytes, columns: dict[str, pa.DataType], strict: bool) -> str | None:
    try:
        record = parse_lossless(value.decode(errors="surrogateescape"))
    except json.JSONDecodeError as wrong:
        return None if b"Inf" in value else f"no JSON: {wrong}"  # the reader knows Inf and -Inf
    except RecursionError:
        return None
    if not isinstance(record, JsonObject):
        return None
    names = set()
    for name, item in record:
        if name in columns:
            if name in names:
                return f"{name}: occurs twice"
            names.add(name)
            if fault := _fault(item, columns[name]):
                return f"{name}: {fault}"
    return _unknown_field(record, columns) if strict else None


def _unknown_field(item: object, fields: dict[str, pa.DataType], parent: str = "") -> str | None:
    """The first field that is no column, or that its STRUCT does not have."""
    for name, part in item if isinstance(item, JsonObject) else ():
        if name not in fields:
            owner = f"no field of {parent}" if parent else "no column"
            return f"{parent}{'.' * bool(parent)}{name}: is {owner}{nearest(name, tuple(fields))}"
        kind = fields[name]
        parts = part if pa.types.is_list(kind) and isinstance(part, list) else [part]
        kind = kind.value_type if pa.types.is_list(kind) else kind
        inner = {field.name: field.type for field in kind} if pa.types.is_struct(kind) else {}
        for each in parts if inner else ():
            if unknown := _unknown_field(each, inner, f"{parent}{'.' * bool(parent)}{name}"):
                return unknown
    return None


def _fault(item: object, kind: pa.DataType) -> str | None:
    if item is None or pa.types.is_decimal(kind):
        return None
    actual_sort, expected_sort = _sort_of_value(item), _sort_of_type(kind)
    if actual_sort != expected_sort:
        return f"found {article(actual_sort)} where {article(expected_sort)} is expected"
    if pa.types.is_integer(kind) and not _fits(str(item), kind.bit_width):
        return f"{item} is no {kind}"
    return None


def _fits(number: str, bits: int) -> bool:
    most = 1 << (bits - 1)
    return _whole.fullmatch(number) is not None and -most <= int(number) < most


def _sort_of_value(item: object) -> str:
    if isinstance(item, JsonNumber):
        return "number"
    if isinstance(item, bool):
        return "boolean"
    if isinstance(item, str):
        return "string"
    return "object" if isinstance(item, JsonObject) else "array"


def _sort_of_type(kind: pa.DataType) -> str:
    if pa.types.is_string(kind):
        return "string"
    if pa.types.is_boolean(kind):
        return "boolean"
    if pa.types.is_list(kind):
        return "array"
    return "object" if pa.types.is_struct(kind) else "number"
