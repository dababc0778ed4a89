"""`streamapp plan --layers`: compiles an app as its driver would, and says what is left to Spark.

Spark is started only where an expression has to be judged by it.
"""

import click
from pyspark.sql import SparkSession

from streamapp.author.proposal import Proposal
from streamapp.cli.facts.layer_lookup import CompiledLayers
from streamapp.spec.resource.app import StreamApp
from streamapp_runtime.driver.spark.jvm import JavaMissingError, JvmFailedError
from streamapp_runtime.driver.spark.spark_session import close_session, open_session
from streamapp_runtime.expressions.spark_source import SparkOnDemand
from streamapp_runtime.program.compiler import compile_program
from streamapp_runtime.program.program import PythonLayer
from streamapp_runtime.program.spark_reasons import layer_reasons


class _OwnSpark:
    """A session of this command, and the texts that it was opened for."""

    def __init__(self) -> None:
        """Spark is not started yet."""
        self.texts = list[str]()
        self._session: SparkSession | None = None

    def open(self, text: str) -> SparkSession:
        """The session, for a text that only Spark can judge."""
        self.texts.append(text)
        if self._session is None:
            self._session = open_session("streamapp-plan", 1)
        return self._session

    def close(self) -> None:
        """End Spark, if it was started."""
        if self._session is not None:
            close_session(self._session)


def layers_of(app: StreamApp, proposal: Proposal) -> CompiledLayers:
    """The layers of an app whose plan was accepted; a ClickException where Spark is needed and fails."""
    spark = _OwnSpark()
    try:
        program = compile_program(app, proposal.graph, proposal.plan, SparkOnDemand(spark.open))
    except (JavaMissingError, JvmFailedError) as error:
        raise click.ClickException(f"Spark has to judge {spark.texts[-1]}: {error}") from None
    finally:
        spark.close()
    if isinstance(program, list):
        return CompiledLayers(problems=tuple(program))
    kinds = tuple("python" if isinstance(layer, PythonLayer) else "spark" for layer in program.layers)
    return CompiledLayers(kinds, layer_reasons(app, program.computed_by_spark, spark.texts))
