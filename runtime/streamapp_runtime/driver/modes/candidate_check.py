"""The refusals of a start of another generation, found by a driver that runs. Nothing is written."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from threading import Thread

from streamapp.author.model import KnownPlacement
from streamapp.author.names import processor_names
from streamapp.author.proposal import PlanningInputs
from streamapp.author.start_problems import start_problems
from streamapp.internal_fault import internal_fault
from streamapp.protocol.accepted_app import AcceptedApp
from streamapp.spec.problem import Problem
from streamapp.spec.reasons import Reason
from streamapp_runtime.driver.app_refusal import AppRefusedError
from streamapp_runtime.driver.checkpoints.state_reset import StateReset
from streamapp_runtime.driver.checkpoints.state_schemas import schema_changes
from streamapp_runtime.driver.start.app_compilation import compile_app
from streamapp_runtime.driver.start.app_context import AppContext
from streamapp_runtime.driver.start.draft import first_draft
from streamapp_runtime.driver.start.live_inputs import live_inputs
from streamapp_runtime.driver.start.user_functions import load_user_functions
from streamapp_runtime.expressions.spark_source import SparkSource
from streamapp_runtime.lanes.task_stores.store_specs import store_specs


@dataclass(slots=True)
class CandidateCheck:
    """A generation that is checked on the systems and in the image of the running one, beside its batches.

    The check has a thread of its own, since Spark takes seconds for some apps. What it needs of the app's
    streams and checkpoints is read before.
    """

    candidate: AcceptedApp
    inputs: PlanningInputs  # without the app's own functions, which the check loads
    entries: Mapping[bytes, bytes]  # of the checkpoint stream
    checkpoints: str  # its name
    resets_state: bool  # a start would begin without state
    spark: SparkSource
    _problems: list[Problem] | None = field(init=False, default=None)

    @classmethod
    def begin(cls, candidate: AcceptedApp, context: AppContext, spark: SparkSource) -> "CandidateCheck":
        """Start a check; `context` is that of the generation that runs.

        A generation with a system that this driver does not know is left to its own driver.
        """
        ledger, app = context.ledger, candidate.app
        if not all(system.name in context.systems.connections.by_name for system in app.spec.systems):
            check = cls(candidate, PlanningInputs({}), {}, ledger.stream, False, spark)
            check._problems = []
            return check
        inputs = live_inputs(context.with_app(app), processor_names(app.spec.processors), time.time())
        resets_state = StateReset.of_cluster(candidate).due(ledger.entries, ledger.stream)
        if resets_state:
            inputs = replace(inputs, layout=None)
        check = cls(candidate, inputs, dict(ledger.entries), ledger.stream, resets_state, spark)
        Thread(target=check._run, name="streamapp-candidate-check", daemon=True).start()
        return check

    @property
    def problems(self) -> list[Problem] | None:
        """The problems for which a start would be refused; None while the check continues."""
        return self._problems

    def _run(self) -> None:
        try:
            self._problems = self._start_problems()
        except AppRefusedError as refused:
            self._problems = refused.problems
        except (Exception, SystemExit) as error:  # a start would not get over it either
            message = f"a start of this generation {internal_fault(error)}; please report it"
            self._problems = [Problem(0, 0, "spec", message, Reason.INTERNAL_ERROR)]

    def _start_problems(self) -> list[Problem]:
        app = self.candidate.app
        if problems := start_problems(app):
            return list(problems)
        functions = load_user_functions(app)
        inputs = replace(self.inputs, algorithm=functions.algorithm, grouper=functions.grouper)
        draft = first_draft(app, inputs, KnownPlacement())
        program = compile_app(app, draft.proposal, self.spark).program
        if self.resets_state:
            return []
        schemas = {name: spec.schema for name, spec in store_specs(app, program).items()}
        return schema_changes(app, self.entries, self.checkpoints, schemas)
