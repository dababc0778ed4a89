"""The program of an app, and what else there is to know of its operators before anything is started."""

from collections.abc import Mapping
from dataclasses import dataclass

from pyspark.sql import SparkSession

from streamapp.author.proposal import Proposal
from streamapp.spec.app import StreamApp
from streamapp_runtime.driver.keeping_time import untimed
from streamapp_runtime.driver.refused import RefusedError
from streamapp_runtime.driver.unfit import unfit
from streamapp_runtime.driver.unfit_remotes import unfit_remotes
from streamapp_runtime.program.compiler import compile as compile_program
from streamapp_runtime.program.program import Program, PythonLayer, Task


@dataclass(frozen=True, slots=True)
class Compiled:
    """A program that can run."""

    program: Program
    tasks: list[Task]  # of its Python layers
    avro: Mapping[str, str]  # the schemas that streams bring


def compiled(
    app: StreamApp, proposal: Proposal, session: SparkSession, known: Program | None = None
) -> Compiled:
    """The program of a plan; `known` where it is known to be that. RefusedError where it cannot run."""
    program = known or compile_program(app, proposal.graph, proposal.plan, session)
    if isinstance(program, list):
        raise RefusedError(program, proposal)
    tasks = [task for layer in program.layers if isinstance(layer, PythonLayer) for task in layer.tasks]
    avro = {stream.name: stream.avro_schema for stream in app.spec.streams if stream.avro_schema}
    if known is None and (
        problems := [
            *unfit(app, tasks, avro),
            *unfit_remotes(app, program),
            *untimed(app, program),
        ]
    ):
        raise RefusedError(problems, proposal)
    return Compiled(program, tasks, avro)
