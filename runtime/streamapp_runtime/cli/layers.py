"""`streamapp plan --layers`: compiles an app as its driver would, and says what is left to Spark.

Spark is started only where an expression has to be judged by it.
"""

from contextlib import ExitStack
from functools import cache

import click
from pyspark.sql import SparkSession

from streamapp.author.proposal import Proposal
from streamapp.cli.facts.layer_lookup import CompiledLayers
from streamapp.spec.resource.app import StreamApp
from streamapp_runtime.driver.spark.jvm import JavaMissingError, SparkStartError
from streamapp_runtime.driver.spark.spark_session import close_session, open_session
from streamapp_runtime.expressions.spark_source import RecordedSpark, SparkOnDemand
from streamapp_runtime.program.compiler import compile_program
from streamapp_runtime.program.program import PythonLayer
from streamapp_runtime.program.spark_reasons import layer_reasons


def layers_of(app: StreamApp, proposal: Proposal) -> CompiledLayers:
    """The layers of an app whose plan was accepted; a ClickException where Spark is needed and fails."""
    with ExitStack() as at_end:
        spark = RecordedSpark(cache(lambda: _own_session(at_end)))
        try:
            program = compile_program(app, proposal.graph, proposal.plan, SparkOnDemand(spark.open))
        except (JavaMissingError, SparkStartError) as error:
            raise click.ClickException(f"Spark has to judge {spark.texts[-1]}: {error}") from None
    if isinstance(program, list):
        return CompiledLayers(problems=tuple(program))
    kinds = tuple("python" if isinstance(layer, PythonLayer) else "spark" for layer in program.layers)
    return CompiledLayers(kinds, layer_reasons(app, program.computed_by_spark, spark.texts))


def _own_session(at_end: ExitStack) -> SparkSession:
    session = open_session("streamapp-plan", 1)
    at_end.callback(close_session, session)
    return session.open()
