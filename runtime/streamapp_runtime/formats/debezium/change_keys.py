"""The keys of Debezium's records, which are JSON, as the keys that rows have everywhere else."""

import re
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from streamapp.spec.problem import short
from streamapp_runtime.formats.bad_record_isolation import decode_around_bad_records
from streamapp_runtime.formats.json.json_reader import JsonReader
from streamapp_runtime.formats.json.json_spelling import JsonSpelling
from streamapp_runtime.formats.record_format import ReadKeys
from streamapp_runtime.rows.byte_columns import key_bytes, mask_without, true_places

PAYLOAD: Final = "payload"
"""The field that a key or a value is in, where its schema stands beside it."""
_SCALAR: Final = r'"(?:[^"\\]|\\.)*"|[^"{}\[\],\s]+'
_WRAPPED: Final = rf'(?s)^\s*\{{\s*"schema"\s*:.*"{PAYLOAD}"\s*:\s*(\{{.*\}}|{_SCALAR})\s*\}}\s*$'
_QUOTED: Final = r'(?s)^".*"$'


class ChangeKeys:
    """The reader of keys: objects of one field, which is the key column, texts in quotes, and plain ones."""

    def __init__(self, column: pa.Field, spelling: JsonSpelling) -> None:
        self._column = column.name
        self._reader = JsonReader(pa.schema([column]), spelling=spelling)
        self._texts = JsonReader(pa.schema([("key", pa.string())]))
        self._one_field = rf'(?s)^\s*\{{\s*"{re.escape(column.name)}"\s*:\s*(?:{_SCALAR})\s*\}}\s*$'

    def read(self, keys: pa.BinaryArray) -> ReadKeys:
        """The key of each record; null where it has none, or one with a fault."""
        keys = pc.replace_substring_regex(keys, _WRAPPED, r"\1")
        objects = pc.match_substring_regex(keys, r"^\s*\{").fill_null(False)
        single = pc.match_substring_regex(keys, self._one_field).fill_null(False)
        faults = {
            place: self._no_key(keys[place].as_py()) for place in true_places(pc.and_not(objects, single))
        }
        quoted = pc.match_substring_regex(keys, _QUOTED).fill_null(False)
        if quoted.true_count:
            keys = self._replaced(keys, quoted, self._texts, faults, '{"key":', "}")
        if single.true_count:
            keys = self._replaced(keys, single, self._reader, faults)
        if faults:
            keys = pc.if_else(mask_without(faults, len(keys)), keys, pa.scalar(None, pa.binary()))
        return ReadKeys(keys, faults)

    def _replaced(
        self,
        keys: pa.BinaryArray,
        chosen: pa.BooleanArray,
        reader: JsonReader,
        faults: dict[int, str],
        before: str = "",
        after: str = "",
    ) -> pa.BinaryArray:
        """The keys, the chosen ones as their JSON says them."""
        places = true_places(chosen)
        texts = keys.filter(chosen)
        if before:
            texts = pc.binary_join_element_wise(before.encode(), texts, after.encode(), b"")
        decoded = decode_around_bad_records(texts, reader.read)
        faults |= {places[bad.index]: f"its key: {bad.reason}" for bad in decoded.bad}
        return pc.replace_with_mask(keys, chosen, key_bytes(decoded.columns.column(0)))

    def _no_key(self, key: bytes) -> str:
        """That a key is no object of one field, and what a stream with such keys says."""
        text = short(key.decode(errors="replace"))
        return (
            f"its key {text} has not the one field {self._column}; name a column for keys as they are "
            "(metadata.key), and say that one as key of the stream"
        )
