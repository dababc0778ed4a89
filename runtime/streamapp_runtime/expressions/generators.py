"""Generators of a flatMap: functions that make many rows of one, each brought to the form of one array."""

from dataclasses import dataclass

from pyspark.sql import types as t

from streamapp.columns.column_scope import ColumnScope
from streamapp.columns.compile_refusal import CompileRefusedError
from streamapp.columns.spark_functions import GENERATORS
from streamapp.spec.value_types.column_list import Column
from streamapp_runtime.expressions.analysis import select_list_columns
from streamapp_runtime.expressions.catalyst import SelectItem, call_arguments
from streamapp_runtime.expressions.expression import expression
from streamapp_runtime.expressions.spark_source import SparkSource
from streamapp_runtime.expressions.sql_types import ddl, read_ddl
from streamapp_runtime.expressions.template import Template


@dataclass(frozen=True, slots=True)
class Generator:
    """The generator of many rows from one: an array of which each element becomes a row.

    Its values follow the source's columns: the element's place where it is asked for, then the element, or
    these fields of it.
    """

    array: Template
    type: str
    places: bool
    fields: tuple[str, ...]
    outer: bool  # an array that is empty or null gives one row of nulls

    @property
    def columns(self) -> tuple[Column, ...]:
        """The values that each row gets, with their types."""
        element = _element_type(self.type)
        fields = element.fields if isinstance(element, t.StructType) and self.fields else ()
        values = tuple(Column(field.name, ddl(field.dataType)) for field in fields)
        place = (Column("place", "INT"),) if self.places else ()
        return (*place, *(values or (Column("element", ddl(element)),)))

    @property
    def values(self) -> int:
        """The number of values that each row gets."""
        return self.places + (len(self.fields) or 1)


def is_generator(item: SelectItem) -> bool:
    """True if an entry of a select list is a call of a generator."""
    if not item.calls:
        return False
    first = item.calls[0]
    return (first.start, first.end) == (0, len(item.text)) and first.parts[-1].lower() in GENERATORS


def generator_of(spark: SparkSource, item: SelectItem, scope: ColumnScope) -> Generator:
    """The generator of such an entry."""
    call = item.calls[0]
    function = call.parts[-1].lower()
    arguments, _ = call_arguments(item.text, call)
    if len(arguments) != 1:
        raise CompileRefusedError(f"{function} takes one argument")
    (text,) = arguments
    array, kind = expression(spark, text, scope)
    fields: tuple[str, ...] = ()
    if kind.startswith("MAP<"):
        array, fields = array.inside("map_entries(", ")"), ("key", "value")
        (entries,) = select_list_columns(spark, [f"map_entries({text})"], scope)
        kind = entries.type
    elif function.startswith("inline"):
        fields = tuple(_fields_of(kind))
    return Generator(array, kind, function.startswith("pos"), fields, function.endswith("_outer"))


def _fields_of(kind: str) -> list[str]:
    element = _element_type(kind)
    return element.names if isinstance(element, t.StructType) else []


def _element_type(kind: str) -> t.DataType:
    array = read_ddl(f"array {kind}")["array"].dataType
    return array.elementType if isinstance(array, t.ArrayType) else array
