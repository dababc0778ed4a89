"""Respells JSON objects that stand for maps as lists of entries, which is how they can be read.

Arrow's reader takes the names in an object for columns, known beforehand; those of a map are data. This is
done record by record, and only for streams that have a MAP column. Numbers keep their spelling.
"""

import json
import re
from collections.abc import Iterable

import pyarrow as pa

from streamapp_runtime.formats.json.lossless_json import JsonNumber, JsonObject, parse_lossless
from streamapp_runtime.formats.record_format import UndecodableError

_bare = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?|-?Infinity|NaN|true|false")


class _NoMapError(Exception):
    """A map is no object."""


def has_map(kind: pa.DataType) -> bool:
    """True if there is a map anywhere in the type."""
    return pa.types.is_map(kind) or any(has_map(kind.field(at).type) for at in range(kind.num_fields))


def maps_as_entries(values: pa.BinaryArray, record: pa.StructType) -> pa.BinaryArray:
    """The same records with each map as `[{"key": ..., "value": ...}, ...]`."""
    texts: list[bytes] = []
    wrong: dict[int, str] = {}
    for row, value in enumerate(values.to_pylist()):
        try:
            texts.append(_spelt(parse_lossless(value.decode()), record).encode())
        except _NoMapError:
            wrong[row] = "found another value where an object is expected, for a MAP"
        except (ValueError, RecursionError) as reason:
            wrong[row] = f"no JSON: {reason}"
    if wrong:
        raise UndecodableError(next(iter(wrong.values())), wrong)
    return pa.array(texts, pa.binary())


def _spelt(value: object, kind: pa.DataType | None) -> str:
    if isinstance(value, JsonNumber):
        return value
    if kind is not None and pa.types.is_map(kind) and value is not None:
        return _spelt_map(value, kind)
    if isinstance(value, JsonObject):
        kinds = {field.name: field.type for field in _fields(kind)}
        return _listed("{}", (f"{json.dumps(name)}:{_spelt(each, kinds.get(name))}" for name, each in value))
    if isinstance(value, list):
        inner = kind.value_type if kind is not None and pa.types.is_list(kind) else None
        return _listed("[]", (_spelt(each, inner) for each in value))
    return json.dumps(value)


def _fields(kind: pa.DataType | None) -> Iterable[pa.Field]:
    return kind if kind is not None and pa.types.is_struct(kind) else ()


def _listed(brackets: str, parts: Iterable[str]) -> str:
    return brackets[0] + ",".join(parts) + brackets[1]


def _spelt_map(value: object, kind: pa.MapType) -> str:
    if not isinstance(value, JsonObject):
        raise _NoMapError
    keys, values = kind.key_type, kind.item_type
    return _listed("[]", (f'{{"key":{_key(k, keys)},"value":{_spelt(v, values)}}}' for k, v in value))


def _key(name: str, kind: pa.DataType) -> str:
    """Names are always texts; where keys are numbers they are spelt, and so read, as such."""
    texts = pa.types.is_string, pa.types.is_binary, pa.types.is_temporal
    if any(test(kind) for test in texts) or not _bare.fullmatch(name):
        return json.dumps(name)
    return name
