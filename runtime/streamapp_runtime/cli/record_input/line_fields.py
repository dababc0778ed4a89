"""Fields of JSON lines that are those of their records: key, time, headers, and that there is no value."""

import json
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from streamapp_runtime.rows.lines import UnusableLineError
from streamapp_runtime.systems.stream_system import RECORDS, RECORDS_WITH_HEADERS

KEY: Final = "__key"
TIMESTAMP: Final = "__timestamp"
HEADER_LIST: Final = "__headers"
TOMBSTONE: Final = "__tombstone"
_FIELDS: Final = (KEY, TIMESTAMP, HEADER_LIST, TOMBSTONE)
_BEGIN: Final = b'"__'
"""What a line holds that has such a field; others are not parsed, and stay byte for byte as they are."""


def records_of_lines(keys: pa.BinaryArray, values: pa.BinaryArray, numbers: pa.Array) -> pa.RecordBatch:
    """Records with these keys and values, but for what the values say of them; without a time mostly."""
    marked = pc.match_substring(values, _BEGIN)
    plain = pa.RecordBatch.from_arrays([keys, values, pa.nulls(len(values), pa.int64())], schema=RECORDS)
    if not marked.true_count:
        return plain
    rows = plain.to_pylist()
    has_headers = False
    for place in pc.indices_nonzero(marked).to_pylist():
        _take_fields(rows[place], numbers[place].as_py())
        has_headers |= "headers" in rows[place]
    if not has_headers:
        return pa.RecordBatch.from_pylist(rows, schema=RECORDS)
    return pa.RecordBatch.from_pylist([{"headers": [], **row} for row in rows], schema=RECORDS_WITH_HEADERS)


def _take_fields(row: dict[str, Any], number: int) -> None:
    """Move the fields out of the value to where they belong."""
    try:
        document = json.loads(row["value"])
    except ValueError:
        return  # as any other line that is no JSON
    if not isinstance(document, dict) or document.keys().isdisjoint(_FIELDS):
        return
    if KEY in document:
        row["key"] = _octets(document.pop(KEY), number, KEY)
    if TIMESTAMP in document:
        row["timestamp"] = time = document.pop(TIMESTAMP)
        if type(time) is not int or time < 0:
            raise UnusableLineError(f"line {number}: {TIMESTAMP} has to be milliseconds since 1970 began")
    if HEADER_LIST in document:
        row["headers"] = _headers(document.pop(HEADER_LIST), number)
    if _is_tombstone(document.pop(TOMBSTONE, False), number):
        row["value"] = None
        if row["key"] is None:
            raise UnusableLineError(f"line {number}: a tombstone has to have a key, whose value it deletes")
        return
    row["value"] = json.dumps(document, separators=(",", ":"), ensure_ascii=False).encode()


def _is_tombstone(mark: Any, number: int) -> bool:
    if not isinstance(mark, bool):
        raise UnusableLineError(
            f"line {number}: {TOMBSTONE} has {json.dumps(mark)}; allowed are true and false"
        )
    return mark


def _headers(headers: Any, number: int) -> list[dict[str, Any]]:
    """Headers by their names, or in a list as `log read --headers` prints them."""
    pairs = list(headers.items()) if isinstance(headers, dict) else None
    if isinstance(headers, list) and all(
        isinstance(one, dict) and one.keys() == {"name", "value"} and isinstance(one["name"], str)
        for one in headers
    ):
        pairs = [(one["name"], one["value"]) for one in headers]
    if pairs is None:
        wanted = 'texts by name, or a list of {"name": ..., "value": ...}'
        raise UnusableLineError(f"line {number}: {HEADER_LIST} has to be {wanted}")
    return [{"name": name, "value": _octets(value, number, HEADER_LIST)} for name, value in pairs]


def _octets(text: Any, number: int, field: str) -> bytes | None:
    if not (text is None or isinstance(text, str)):
        raise UnusableLineError(
            f"line {number}: {field} has {json.dumps(text)} where a text or null is expected"
        )
    return None if text is None else text.encode()
