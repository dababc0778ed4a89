import pyarrow as pa
import pytest
from pyspark.sql import types as spark
from pyspark.sql.pandas.types import to_arrow_type

from streamapp.spec.value_types.column_list import parse_columns
from streamapp_runtime.formats.arrow_types import UnknownTypeError, arrow_schema, column_list

TYPES: list[tuple[str, spark.DataType]] = [
    ("STRING", spark.StringType()),
    ("VARCHAR(3)", spark.StringType()),
    ("BOOLEAN", spark.BooleanType()),
    ("BINARY", spark.BinaryType()),
    ("DATE", spark.DateType()),
    ("TIMESTAMP", spark.TimestampType()),
    ("TIMESTAMP_LTZ", spark.TimestampType()),
    ("TIMESTAMP_NTZ", spark.TimestampNTZType()),
    ("TINYINT", spark.ByteType()),
    ("SHORT", spark.ShortType()),
    ("INT", spark.IntegerType()),
    ("LONG", spark.LongType()),
    ("REAL", spark.FloatType()),
    ("DOUBLE", spark.DoubleType()),
    ("DECIMAL", spark.DecimalType(10, 0)),
    ("DEC(7)", spark.DecimalType(7, 0)),
    ("NUMERIC(38, 18)", spark.DecimalType(38, 18)),
    ("ARRAY<ARRAY<DECIMAL(5, 2)>>", spark.ArrayType(spark.ArrayType(spark.DecimalType(5, 2)))),
    ("MAP<STRING, ARRAY<INT>>", spark.MapType(spark.StringType(), spark.ArrayType(spark.IntegerType()))),
    (
        "STRUCT<x: INT, `a, b: c<` : MAP<INT, DECIMAL(5, 2)> NOT NULL, `q``q` STRUCT<y: DATE>>",
        spark.StructType(
            [
                spark.StructField("x", spark.IntegerType()),
                spark.StructField("a, b: c<", spark.MapType(spark.IntegerType(), spark.DecimalType(5, 2))),
                spark.StructField("q`q", spark.StructType([spark.StructField("y", spark.DateType())])),
            ]
        ),
    ),
]


@pytest.mark.parametrize(("text", "kind"), TYPES)
def test_a_column_has_the_type_that_spark_gives_to_arrow(text: str, kind: spark.DataType) -> None:
    found = arrow_schema(parse_columns(f"c {text}"))
    assert found.field(0).type == to_arrow_type(kind, timezone="UTC")
    assert arrow_schema(parse_columns(column_list(found))) == found


def test_every_column_may_be_null_because_of_tombstones() -> None:
    assert arrow_schema(parse_columns("a INT NOT NULL")).field(0).nullable


def test_a_type_that_records_cannot_carry_is_named() -> None:
    with pytest.raises(UnknownTypeError, match="VARIANT cannot be read from records"):
        arrow_schema(parse_columns("a ARRAY<VARIANT>"))


def test_types_are_arrows_own() -> None:
    assert arrow_schema(parse_columns("t TIMESTAMP")).types == [pa.timestamp("us", "UTC")]
