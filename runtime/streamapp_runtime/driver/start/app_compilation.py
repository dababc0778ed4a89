"""The program of an app, and what else there is to know of its operators before anything is started."""

from collections.abc import Mapping
from dataclasses import dataclass

from streamapp.author.proposal import Proposal
from streamapp.spec.resource.app import StreamApp
from streamapp_runtime.driver.app_refusal import AppRefusedError
from streamapp_runtime.driver.start.operator_checks import unfit_operators, unfit_remote_tables
from streamapp_runtime.expressions.spark_source import SparkSource
from streamapp_runtime.formats.format_options import FormatOptions, format_options
from streamapp_runtime.program.compiler import compile_program
from streamapp_runtime.program.program import PlacedOperation, Program


@dataclass(frozen=True, slots=True)
class CompiledApp:
    """A program that can run."""

    program: Program
    tasks: list[PlacedOperation]  # of the program
    format_options: Mapping[str, FormatOptions]  # of the streams that have any


def compile_app(
    app: StreamApp, proposal: Proposal, spark: SparkSource, known: Program | None = None
) -> CompiledApp:
    """The program of a plan; `known` where it is known to be that. RefusedError where it cannot run."""
    program = known or compile_program(app, proposal.graph, proposal.plan, spark)
    if isinstance(program, list):
        raise AppRefusedError(program, proposal)
    tasks = list(program.tasks)
    options = format_options(app)
    if known is None and (
        problems := [
            *unfit_operators(app, tasks, options),
            *unfit_remote_tables(app, program),
        ]
    ):
        raise AppRefusedError(problems, proposal)
    return CompiledApp(program, tasks, options)
