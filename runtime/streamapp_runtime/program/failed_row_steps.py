"""Steps of Spark SQL in which a row on which an expression fails is marked, where it would end the job.

For a search only: Spark tells of a failed expression that it failed, and not for which row. Each step's
expressions are evaluated inside Catalyst's own TryEval, which gives null where they fail. A row that failed
gets a tag that says at which step, and passes through all that follows as it is, for no step knows its tag.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  # as everybody calls it

from streamapp_runtime.program.program import Program, SqlLayer, SqlStep
from streamapp_runtime.program.sql_layer import fan_out, with_row_alias

_SPAN: Final = 1_000_000
"""More than a program has tags."""
_TRIED: Final = "what was tried"
_ELIMINATION: Final = "spark.sql.subexpressionElimination.enabled"


def failed_step(tag: int) -> tuple[int, int] | None:
    """At which step a row failed, counted through all layers, and its tag before; None for any other row."""
    number, before = divmod(tag, _SPAN)
    return (-number - 1, before) if tag < -_SPAN // 2 else None


def all_sql_steps(program: Program) -> tuple[SqlStep, ...]:
    """All steps, as they are counted."""
    return tuple(step for layer in program.layers if isinstance(layer, SqlLayer) for step in layer.steps)


def apply_marking_failures(rows: DataFrame, layer: SqlLayer, first: int) -> DataFrame:
    """The rows after all steps of a layer; `first` is the number of its first step."""
    for number, step in enumerate(layer.steps, start=first):
        rows = _step(rows, step, number)
    return rows


@contextmanager
def without_shared_subexpressions(session: SparkSession) -> Iterator[None]:
    """Shared subexpressions stay apart: else Spark evaluates them first, where nothing catches a failure."""
    before = session.conf.get(_ELIMINATION)
    session.conf.set(_ELIMINATION, "false")
    try:
        yield
    finally:
        session.conf.set(_ELIMINATION, str(before))


def _step(rows: DataFrame, step: SqlStep, number: int) -> DataFrame:
    names = rows.columns
    if step.where is not None:
        rows = _tried(rows, {"kept": step.where})
        rows = _marked(rows.where(F.col(_TRIED).isNull() | F.col(f"`{_TRIED}`.kept")), number)
    for generator, place, element in step.explode:
        function, _, arguments = generator.partition("(")
        rows = _tried(rows, {"array": arguments.removesuffix(")")})
        array = f"CASE WHEN `{_TRIED}` IS NULL THEN array(NULL) ELSE `{_TRIED}`.array END"
        rows = _marked(rows.selectExpr("*", f"{function}({array}) AS (`{place}`, `{element}`)"), number)
    if step.project:
        rows = _tried(rows, dict(step.project))
        computed = dict.fromkeys(name for name, _ in step.project)
        others = [_either(name, name in computed) for name in names if name != "tag"]
        rows = rows.select(_tag(number, "tag" in computed), *others).select(*names)
    else:
        rows = rows.select(*names)
    return fan_out(rows, step)


def _tried(rows: DataFrame, texts: Mapping[str, str]) -> DataFrame:
    """The rows with what expressions give; null where one of them fails."""
    every = F.struct(*(F.expr(text).alias(name) for name, text in texts.items()))
    jvm = rows.sparkSession.sparkContext._jvm  # noqa: SLF001 - Spark offers TryEval to nobody but itself
    if jvm is None:
        raise AssertionError("Spark has ended")
    sql = jvm.org.apache.spark.sql
    caught = sql.catalyst.expressions.TryEval(sql.classic.ExpressionUtils.expression(every._jc))  # noqa: SLF001
    attempt = Column(sql.classic.ExpressionUtils.column(caught))
    return with_row_alias(rows).select("*", attempt.alias(_TRIED))


def _marked(rows: DataFrame, number: int) -> DataFrame:
    """The rows without what was tried; those that failed are told by their tag."""
    return rows.withColumn("tag", _tag(number, is_computed=False)).drop(_TRIED)


def _tag(number: int, is_computed: bool) -> Column:
    failed = F.col("tag") - F.lit((number + 1) * _SPAN)
    well = F.col(f"`{_TRIED}`.tag") if is_computed else F.col("tag")
    return F.when(F.col(_TRIED).isNull(), failed).otherwise(well).alias("tag")


def _either(name: str, is_computed: bool) -> Column:
    if not is_computed:
        return F.col(name)
    return F.when(F.col(_TRIED).isNull(), F.col(name)).otherwise(F.col(f"`{_TRIED}`.{name}")).alias(name)
