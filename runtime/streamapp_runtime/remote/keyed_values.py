"""Rows of keys by what a service keeps under these: JSON objects, or values of other types."""

import pyarrow as pa

from streamapp.spec.value_types.column_list import parse_columns
from streamapp_runtime.formats.json.json_format import JsonFormat
from streamapp_runtime.operators.user_code.user_batch import KEY
from streamapp_runtime.remote.remote_class import RemoteConfig


class JsonRows:
    """Rows that are JSON objects, read as records of streams are."""

    def __init__(self, config: RemoteConfig) -> None:
        self._format = JsonFormat(list(parse_columns(config.column_list)))

    def rows(self, keys: pa.BinaryArray, values: pa.BinaryArray) -> pa.RecordBatch:
        """The rows of the keys whose value is not null; ValueError names the key of one that is no row."""
        is_present = values.is_valid()
        keys = keys.filter(is_present)
        decoded = self._format.decode(values.filter(is_present))
        if decoded.bad:
            first = decoded.bad[0]
            raise ValueError(f"the value of key {keys[first.index].as_py()!r}: {first.reason}")
        return decoded.columns.append_column(KEY, keys)


def text_keys(keys: pa.BinaryArray) -> pa.StringArray:
    """The keys as texts; null for one that is none, under which a service of texts has no row."""
    try:
        return keys.cast(pa.string())
    except pa.ArrowInvalid:
        texts = [key.decode(errors="replace") for key in keys.to_pylist()]
        pairs = zip(texts, keys.to_pylist(), strict=True)
        return pa.array([text if text.encode() == key else None for text, key in pairs], pa.string())


def cast_values(values: pa.Array, field: pa.Field) -> pa.Array:
    """The values as those of a column; texts are read, and ValueError names the column where one is none."""
    try:
        if pa.types.is_binary(values.type) and not pa.types.is_binary(field.type):
            values = values.cast(pa.string())
        return values.cast(field.type)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise ValueError(f'column "{field.name}" as {field.type}: {error}') from error
