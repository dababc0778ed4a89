"""Casts that are written as a function of the type's name, or behind two colons."""

from collections.abc import Sequence
from typing import Final

from streamapp_runtime.expressions.plain.plain_operands import cast_value
from streamapp_runtime.expressions.plain.plain_types import PlainValue
from streamapp_runtime.expressions.row_value import WHOLE_TYPES

_FUNCTIONS: Final = frozenset(
    name.lower() for name in (*WHOLE_TYPES, "DOUBLE", "STRING", "BOOLEAN", "DATE", "TIMESTAMP")
)
_TIME_FUNCTIONS: Final = {
    "to_date": "DATE",
    "to_timestamp": "TIMESTAMP",
    "to_timestamp_ltz": "TIMESTAMP",
    "to_timestamp_ntz": "TIMESTAMP_NTZ",
}


def _cast_function(function: str, arguments: Sequence[PlainValue]) -> PlainValue:
    return cast_value(arguments[0], function.upper())


def _as_time(function: str, arguments: Sequence[PlainValue]) -> PlainValue:
    return cast_value(arguments[0], _TIME_FUNCTIONS[function])


CAST_CALLS: Final = (
    (_FUNCTIONS, {1}, _cast_function),
    (_TIME_FUNCTIONS, {1}, _as_time),
)
