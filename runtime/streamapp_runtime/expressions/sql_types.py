"""Spark's types as text that Spark reads back: what edges and programs carry."""

from pyspark.sql import types as t

from streamapp.spec.value_types.column_list import Column


def quoted(name: str) -> str:
    """A name that may be any word, even one of the language, or any text."""
    return "`" + name.replace("`", "``") + "`"


def ddl(kind: t.DataType) -> str:
    """The type as Spark SQL writes it; everything in it may be null, as in rows that lanes share."""
    if isinstance(kind, t.ArrayType):
        return f"ARRAY<{ddl(kind.elementType)}>"
    if isinstance(kind, t.MapType):
        return f"MAP<{ddl(kind.keyType)}, {ddl(kind.valueType)}>"
    if isinstance(kind, t.StructType):
        return f"STRUCT<{', '.join(f'{quoted(f.name)}: {ddl(f.dataType)}' for f in kind.fields)}>"
    if isinstance(kind, (t.CharType, t.VarcharType, t.StringType)):
        return "STRING"
    return kind.simpleString().upper()


def read_ddl(text: str) -> t.StructType:
    """A column list as Spark's own type."""
    schema = t.StructType.fromDDL(text)
    if not isinstance(schema, t.StructType):
        raise TypeError(f"not a column list: {text}")
    return schema


def columns_of_schema(schema: t.StructType) -> tuple[Column, ...]:
    """A schema's columns with their types as text."""
    return tuple(Column(field.name, ddl(field.dataType)) for field in schema.fields)


def column_list(columns: tuple[Column, ...]) -> str:
    """The columns as a Spark SQL column list."""
    return ", ".join(f"{quoted(column.name)} {column.type}" for column in columns)
