"""Steps of Spark SQL as a DataFrame: narrow, in one line, no exchange."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812  # as everybody calls it

from streamapp_runtime.expressions.template import ROW_ALIAS
from streamapp_runtime.program.program import SqlLayer, SqlStep


def apply_layer(rows: DataFrame, layer: SqlLayer) -> DataFrame:
    """The rows after all steps of a layer; their columns stay the wide row's."""
    for step in layer.steps:
        rows = apply_step(rows, step)
    return rows


def apply_step(rows: DataFrame, step: SqlStep) -> DataFrame:
    """The rows after one step."""
    names = rows.columns
    if step.where is not None:
        rows = with_row_alias(rows).where(step.where)
    for generator, place, element in step.explode:
        rows = with_row_alias(rows).selectExpr("*", f"{generator} AS (`{place}`, `{element}`)")
    project = dict(step.project)
    rows = with_row_alias(rows).selectExpr(
        *(f"{project.get(name, f'{ROW_ALIAS}.{name}')} AS {name}" for name in names)
    )
    return fan_out(rows, step)


def fan_out(rows: DataFrame, step: SqlStep) -> DataFrame:
    """The rows, once for each of those that read them."""
    if not step.fan_out:
        return rows
    names = rows.columns
    tags = F.array("tag")
    for tag, onto in step.fan_out:
        tags = F.when(F.col("tag") == tag, F.array(*map(F.lit, onto))).otherwise(tags)
    others = [F.col(name) for name in names if name != "tag"]
    return rows.select(F.explode(tags).alias("tag"), *others).select(*names)


def with_row_alias(rows: DataFrame) -> DataFrame:
    """The rows under the name by which expressions ask for registers."""
    return rows.alias(ROW_ALIAS.strip("`"))
