"""The keys of JSON lines: one column of each object, as text."""

import json

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json

from streamapp_runtime.cli.record_input.line_fields import KEY
from streamapp_runtime.rows.lines import Lines, UnusableLineError


def with_keys(lines: Lines, key: str | None) -> tuple[pa.BinaryArray, pa.BinaryArray]:
    """Keys and values. The values are the lines; without a key column nothing is parsed."""
    values, numbers = lines.filled()
    if key is None or not len(values):
        return pa.nulls(len(values), pa.binary()), values
    keys = _parsed(values, key, pa.string())
    if keys is None:
        keys = _parsed(values, key, pa.int64())
    return (_one_by_one(values, numbers, key) if keys is None else keys), values


def require_column(keys: pa.BinaryArray, values: pa.BinaryArray, key: str) -> None:
    """UnusableLineError where none of some records has the column that is to be their key, or its own key."""
    if keys.null_count < len(keys):
        return
    names = dict.fromkeys(name for line in values.to_pylist() for name in json.loads(line))
    if key not in names and KEY not in names:
        raise UnusableLineError(f'no record has a column "{key}"; they have {", ".join(names) or "none"}')


def _parsed(values: pa.BinaryArray, key: str, kind: pa.DataType) -> pa.BinaryArray | None:
    """All keys at once, if all are of this kind; a number that has another spelling is not."""
    joined = pc.binary_join(pa.ListArray.from_arrays([0, len(values)], values), b"\n")[0].as_buffer()
    reading = pa.json.ReadOptions(use_threads=False, block_size=joined.size + 1)
    parsing = pa.json.ParseOptions(
        explicit_schema=pa.schema([(key, kind)]), unexpected_field_behavior="ignore"
    )
    try:
        table = pa.json.read_json(pa.BufferReader(joined), read_options=reading, parse_options=parsing)
    except pa.ArrowInvalid:
        return None
    if table.num_rows != len(values):
        return None
    return table.column(0).combine_chunks().cast(pa.string()).cast(pa.binary())


def _one_by_one(values: pa.BinaryArray, numbers: pa.Array, key: str) -> pa.BinaryArray:
    return pa.array(
        [
            _key(line, number, key)
            for line, number in zip(values.to_pylist(), numbers.to_pylist(), strict=True)
        ],
        pa.binary(),
    )


def _key(line: bytes, number: int, key: str) -> bytes | None:
    try:
        document = json.loads(line)
    except ValueError as error:
        raise UnusableLineError(f"line {number} is not JSON: {error}") from None
    if not isinstance(document, dict):
        raise UnusableLineError(f'line {number} is no JSON object, so it has no column "{key}"')
    value = document.get(key)
    if value is None or isinstance(value, str):
        return None if value is None else value.encode()
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()
