"""Texts as they may stand between quotes in JSON: few need a change, and those are found at once."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from streamapp_runtime.rows.byte_columns import byte_spans

_QUOTE, _BACKSLASH, _FIRST_PLAIN = ord('"'), ord("\\"), 32
_SHORT = {
    ord('"'): '\\"',
    ord("\\"): "\\\\",
    ord("\b"): "\\b",
    ord("\f"): "\\f",
    ord("\n"): "\\n",
    ord("\r"): "\\r",
    ord("\t"): "\\t",
}


def escape_strings(texts: pa.StringArray) -> pa.StringArray:
    """The texts with quotes, backslashes and control characters escaped; what is null stays so."""
    bounds, data = byte_spans(texts)
    special = (data < _FIRST_PLAIN) | (data == _QUOTE) | (data == _BACKSLASH)
    if not special.any():
        return texts
    places = np.flatnonzero(special)
    rows = np.unique(np.searchsorted(bounds, places, side="right") - 1)
    mended = texts.take(pa.array(rows))
    for code in _backslash_first(np.unique(data[places]).tolist()):
        mended = pc.replace_substring(mended, chr(code), _SHORT.get(code, f"\\u{code:04x}"))
    chosen = np.zeros(len(texts), bool)
    chosen[rows] = True
    return pc.replace_with_mask(texts, pa.array(chosen), mended)


def _backslash_first(codes: list[int]) -> list[int]:
    """Escapes bring backslashes of their own, which must not be escaped again."""
    return sorted(codes, key=lambda code: code != _BACKSLASH)
