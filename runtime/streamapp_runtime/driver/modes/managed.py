"""The mode of `streamapp drive`: models are the operator's, batches the driver's."""

import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import Final
from uuid import uuid4

from pyspark import SparkContext

from streamapp.author.app_streams import is_embedded
from streamapp.author.code_references import token_functions
from streamapp.protocol.accepted_app import AcceptedApp
from streamapp.protocol.driver_report import DriverState, ReportedWarning
from streamapp.protocol.start_steps import StartStep
from streamapp.protocol.wanted_state import WantedState
from streamapp.spec.resource.app import StreamApp
from streamapp.tasks.layouts.layout import Layout
from streamapp.tasks.refusal import Refusal
from streamapp_runtime.driver.app_refusal import AppRefusedError
from streamapp_runtime.driver.batches.loop import Loop
from streamapp_runtime.driver.batches.run_change import RunChange
from streamapp_runtime.driver.batches.run_settings import RunSettings, run_settings
from streamapp_runtime.driver.checkpoints.checkpoint_stream import CheckpointStream
from streamapp_runtime.driver.checkpoints.ownership import Ownership
from streamapp_runtime.driver.checkpoints.state_reset import StateReset
from streamapp_runtime.driver.executors.executor_locations import (
    ExecutorLocations,
    Pods,
    executor_locations,
    no_locations,
)
from streamapp_runtime.driver.executors.executor_pool import UNLIMITED_WORKERS, ExecutorPool
from streamapp_runtime.driver.failures import FailedError
from streamapp_runtime.driver.imports.table_import import ImportProgress, no_listener
from streamapp_runtime.driver.modes.app_run import RunLimits
from streamapp_runtime.driver.modes.managed_follow import (
    ManagedFollower,
    first_report,
    reported_warnings,
)
from streamapp_runtime.driver.modes.mounted_secrets import worker_secret_sources
from streamapp_runtime.driver.modes.pod_environment import PodEnvironment
from streamapp_runtime.driver.modes.stop_signal import SignalStop, StoppedError
from streamapp_runtime.driver.modes.task_validation import TaskValidation, validate_tasks
from streamapp_runtime.driver.modes.wanted_model import launch_wanted
from streamapp_runtime.driver.reporting.driver_liveness import DriverLiveness
from streamapp_runtime.driver.reporting.start_clock import StartClock
from streamapp_runtime.driver.spark.spark_session import open_configured_session
from streamapp_runtime.driver.standby.driver_watch import DriverWatch
from streamapp_runtime.driver.standby.standby_program import StandbyProgram
from streamapp_runtime.driver.standby.standby_warm_up import StandbyWarmUp
from streamapp_runtime.driver.start.app_context import AppContext
from streamapp_runtime.driver.start.app_storage import AppStorage, storage_of
from streamapp_runtime.driver.start.launch import Launch, first_launch
from streamapp_runtime.driver.start.user_functions import UserFunctions, UserLocations, load_user_functions
from streamapp_runtime.log_lines.line_labels import ProcessRole
from streamapp_runtime.log_lines.python_logging import ProcessLogging
from streamapp_runtime.systems.app_systems import Systems
from streamapp_runtime.transport.message_transport import MessageTransport

MODEL_SECONDS: Final = 300.0
"""How long a driver waits for a model that it can take."""
POLL_SECONDS: Final = 0.2
TAKE_OVER_POLL_SECONDS: Final = 0.05


def takes_over(own: int, wanted: int) -> bool:
    """True if the driver of an incarnation is wanted; StoppedError where a later one is: it was given up."""
    if wanted > own:
        raise StoppedError
    return wanted == own


@dataclass(slots=True)
class Managed:
    """A run under an operator."""

    accepted: AcceptedApp
    environment: PodEnvironment
    transport: MessageTransport
    pods: Pods = list  # the executors' pods; none where they are in none
    limits: RunLimits = field(default_factory=RunLimits)  # none: it runs until it is stopped
    standby: bool = False  # whether it waits until it is to take over from another driver
    early_executors: bool = False  # whether its executors start while it waits
    driver_watch: DriverWatch | None = None  # what a standby watches the other driver with
    liveness: DriverLiveness = field(default_factory=lambda: DriverLiveness(time.monotonic))
    start_clock: StartClock = field(default_factory=StartClock)
    locations: ExecutorLocations = field(init=False, default=no_locations)
    _functions: UserFunctions = field(init=False, default_factory=UserFunctions)
    _user_locations: UserLocations | None = field(init=False, default=None)
    _validation: TaskValidation = field(init=False, default_factory=TaskValidation)
    _first_wanted: WantedState | None = field(init=False, default=None)  # the one that the first model is of
    _executor_pool: ExecutorPool | None = field(init=False, default=None)

    @property
    def app(self) -> StreamApp:
        """The app that was accepted."""
        return self.accepted.app

    def begin(self) -> None:
        """Report that the driver has started; while it stands by, another one reports."""
        self.start_clock.note(StartStep.PROCESS)
        if not self.standby:
            self._report_begin()

    def _report_begin(self) -> None:
        self.transport.report(first_report(self.accepted, self.environment.pod, DriverState.STARTING))

    def storage(self) -> AppStorage:
        """The storage on the operator's volumes."""
        state = self.environment.state
        storage = storage_of(self.app, state, self.environment.secrets)
        secret_sources = worker_secret_sources(self.environment, self.app)
        logging = ProcessLogging(self.environment.logging, self.app.application_id, ProcessRole.EXECUTOR)
        return replace(storage, state=state / "state", secret_sources=secret_sources, logging=logging)

    def refuse_early(self, storage: AppStorage) -> None:
        """Load the app's own functions; the operator has planned it, or leaves that to the first launch."""
        self._functions = load_user_functions(self.app)
        if self._functions.location is not None:
            self._user_locations = UserLocations(self._functions.location)
        self.locations = executor_locations(
            self.pods, self.environment.location, user_provider=self._user_locations
        )

    def open_executors(self, storage: AppStorage) -> ExecutorPool:
        """Executors that the cluster brings, as many as are asked for."""
        app_id, settings = self.app.application_id, self.environment.session_settings(self.app)
        spark = open_configured_session(app_id, settings, self.environment.log4j(self.app))
        self.start_clock.note(StartStep.SPARK)
        self._executor_pool = ExecutorPool(app_id, spark, lambda _: None, UNLIMITED_WORKERS, storage.systems)
        return self._executor_pool

    def first_launch(
        self,
        storage: AppStorage,
        systems: Systems,
        ledger: CheckpointStream,
        spark: SparkContext,
        stop: SignalStop,
        import_progressed: Callable[[ImportProgress], None] = no_listener,
    ) -> Launch:
        """Take over, and the first wanted model that can be taken; of others the operator is told why not."""
        page = self.app.spec.page
        shown = page.enabled and page.show_values
        context = AppContext(
            self.app,
            storage,
            systems,
            ledger,
            self._functions,
            import_progressed=import_progressed,
            show_values=shown,
        )
        known = self._await_take_over(context, stop) if self.standby else None
        wanted = self._await_other(stop, None)
        self._request_executors(wanted)
        run_id = wanted.model.run_id if wanted.model else uuid4().hex
        ledger.open(run_id, Ownership.of_cluster(self.accepted), StateReset.of_cluster(self.accepted))
        self._validation = validate_tasks(context, time.time())
        if self._validation.answers is None and self._validation.problems:
            raise AppRefusedError(list(self._validation.problems))
        only_driver_counts = is_embedded(self.app) or any(token_functions(self.app))
        operator_plans = self._validation.answers is not None and not only_driver_counts
        if operator_plans:
            self._report_start(ledger)
        while True:
            self._first_wanted = wanted
            if wanted.model is None and operator_plans:
                wanted = self._await_other(stop, wanted)  # which is made with the answers
                continue
            if wanted.model is None:
                # There is state that only the driver can look into: it makes the first one.
                processors = wanted.processors or self.app.spec.processors
                return first_launch(context, spark, processors)
            launch = launch_wanted(context, spark, wanted, wanted.model, known)
            if not isinstance(launch, Refusal):
                return launch
            self._report_start(
                ledger, ReportedWarning(launch.reason, launch.path, launch.message, wanted.model.version)
            )
            wanted = self._await_other(stop, wanted)

    def settings(self) -> RunSettings:
        """Those of the app."""
        return run_settings(self.app)

    def follower(
        self, loop: Loop, executor_pool: ExecutorPool, changed: Callable[[RunChange], None]
    ) -> ManagedFollower:
        """The follower that takes up what the operator wants."""
        self.start_clock.note(StartStep.LAUNCH)
        return ManagedFollower(
            loop=loop,
            executor_pool=executor_pool,
            transport=self.transport,
            changed=changed,
            accepted=self.accepted,
            pod=self.environment.pod,
            last_wanted=self._first_wanted,
            validation=self._validation,
            user_locations=self._user_locations,
            start_clock=self.start_clock,
        )

    def _report_start(self, ledger: CheckpointStream, *refusals: ReportedWarning) -> None:
        """Report what the operator needs for a model: the state's layout, and the functions' answers."""
        validation = self._validation
        self.transport.report(
            replace(
                first_report(self.accepted, self.environment.pod, DriverState.STARTING),
                incarnation=ledger.incarnation,
                run_id=ledger.run_id,
                layout=ledger.layout or Layout(ledger.run_id, self.app.spec.grouper),
                warnings=(*refusals, *reported_warnings(validation.problems)),
                answers=validation.answers,
            )
        )

    def _request_executors(self, wanted: WantedState) -> None:
        """Ask for the executors of a model that is known already: they start while the driver takes over."""
        if wanted.model is not None and self._executor_pool is not None:
            self._executor_pool.request(len(wanted.model.processors))

    def _await_take_over(self, context: AppContext, stop: SignalStop) -> StandbyProgram | None:
        """Get ready, and wait until the wanted state is published for this driver.

        Then the driver before it has ended. Gives the program that was compiled meanwhile.
        """
        pool = self._executor_pool
        if pool is None:
            raise TypeError("a driver stands by with the executors that it has opened")
        warm_up = StandbyWarmUp(
            context=replace(context, ledger=CheckpointStream(context.systems.home, context.ledger.stream)),
            pool=pool,
            locations=self.locations,
            transport=self.transport,
            liveness=self.liveness,
            is_over=lambda: stop.is_set() or self._is_to_take_over(),
        )
        warm_up.compile()
        has_executors = self.early_executors and self.environment.has_own_executors
        # Executors of two drivers share a folder of their host, where the stores are open.
        keeps_stores = has_executors and self.app.spec.state.host_path is None
        if has_executors:
            warm_up.start_executors()
        if keeps_stores:
            warm_up.restore()
        self.liveness.stand_by()
        self.start_clock.note(StartStep.STANDBY)
        with ExitStack() as watches:
            if self.driver_watch:
                watches.enter_context(self.driver_watch.going_on())
            if has_executors:
                watches.enter_context(warm_up.watching_executors())
            while not self._is_to_take_over():
                if stop.is_set():
                    raise StoppedError
                if keeps_stores:
                    warm_up.refresh()
                stop.wait(TAKE_OVER_POLL_SECONDS)
        self.liveness.take_over()
        self.start_clock.note(StartStep.TAKE_OVER)
        self._report_begin()
        return warm_up.program

    def _is_to_take_over(self) -> bool:
        return takes_over(self.environment.incarnation, self.transport.incarnation())

    def _await_other(self, stop: SignalStop, other_than: WantedState | None) -> WantedState:
        """The wanted state of a driver of this app, once it is another one."""
        deadline = time.monotonic() + MODEL_SECONDS
        while time.monotonic() < deadline:
            if stop.is_set():
                raise StoppedError
            wanted = self.transport.wanted()
            if wanted is not None and wanted != other_than and wanted.spec_hash in {"", self.accepted.hash}:
                return wanted
            stop.wait(POLL_SECONDS)
        raise FailedError(f"no model for this app came within {MODEL_SECONDS:g} s")
