"""Fields of structs, elements of arrays and entries of maps that are read without Spark."""

from typing import Final

from streamapp.spec.value_types.column_list import NESTED
from streamapp_runtime.expressions.declared_types import field_of_type, parts_of_type
from streamapp_runtime.expressions.plain.plain_operands import constant_of, operand, operands, sure
from streamapp_runtime.expressions.plain.plain_types import (
    Arguments,
    PlainValue,
    as_type,
    is_computed_type,
    require,
)
from streamapp_runtime.expressions.row_value import (
    WHOLE_TYPES,
    ArrayContains,
    CollectionSize,
    Constant,
    ElementValue,
    FieldValue,
    MapEntry,
)

_INDEX_TYPES: Final = WHOLE_TYPES[:3]
"""Of a BIGINT Spark takes the lower half."""
_KEY_TYPES: Final = ("STRING", "INT", "BIGINT")


def is_nested_type(kind: str) -> bool:
    """True if values of a type have parts."""
    return _opened(kind)[0] in NESTED


def field_value(of: PlainValue, name: str) -> PlainValue:
    """The part that a dot reads: by the name of a struct's field, or by the key of a map."""
    outer, inside = _opened(of.type)
    if outer == "MAP":
        return _entry(of, PlainValue(Constant(name), "STRING"))
    require(outer == "STRUCT")
    fields = [field_of_type(part) for part in parts_of_type(inside)]
    names = [field.replace("``", "`") for field, _ in fields]
    # Spark ignores case, and refuses a name that two fields have then.
    require(name in names and [each.lower() for each in names].count(name.lower()) == 1)
    index = names.index(name)
    return PlainValue(FieldValue(operand(of.value), index), fields[index][1])


def bracketed(of: PlainValue, index: PlainValue) -> PlainValue:
    """The part that brackets behind a value read: by an index of an array, or by the key of a map."""
    return _entry(of, index) if _opened(of.type)[0] == "MAP" else _element("[]", (of, index))


def _element_at(function: str, arguments: Arguments) -> PlainValue:
    of, index = arguments
    if _opened(of.type)[0] == "MAP":
        return _entry(of, index)
    require(index.type == "INT")
    return _element(function, arguments)


def _element(function: str, arguments: Arguments) -> PlainValue:
    of, index = arguments
    outer, kind = _opened(of.type)
    require(outer == "ARRAY" and index.type in _INDEX_TYPES)
    return PlainValue(ElementValue(function, *operands(of.value, index.value)), kind)


def _entry(of: PlainValue, key: PlainValue) -> PlainValue:
    key_type, value_type = parts_of_type(_opened(of.type)[1])
    require(key_type in _KEY_TYPES)
    return PlainValue(MapEntry(operand(of.value), constant_of(key, key_type).value), value_type)


def _size(_: str, arguments: Arguments) -> PlainValue:
    (of,) = arguments
    require(_opened(of.type)[0] in {"ARRAY", "MAP"})
    return PlainValue(CollectionSize(operand(of.value)), "INT")


def _contains(_: str, arguments: Arguments) -> PlainValue:
    """Spark knows what an array contains that it has just made, and nothing in it may fail."""
    of, element = arguments
    outer, kind = _opened(of.type)
    require(outer == "ARRAY" and is_computed_type(kind) and element.type == kind)
    return PlainValue(ArrayContains(sure(of.value), sure(as_type(element, kind))), "BOOLEAN")


def _opened(kind: str) -> tuple[str, str]:
    """The outer word of a type, and what stands between its brackets."""
    outer, _, inside = kind.partition("<")
    return outer, inside.removesuffix(">")


NESTED_CALLS: Final = (
    ({"get"}, {2}, _element),
    ({"element_at"}, {2}, _element_at),
    ({"size", "cardinality"}, {1}, _size),
    ({"array_contains"}, {2}, _contains),
)
