"""A run under an operator, from beginning to end: models are the operator's, batches the driver's."""

import time
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

from pyspark.sql import SparkSession

from streamapp.author.app_streams import is_embedded
from streamapp.author.names import checkpoint_stream
from streamapp.protocol.accepted_app import AcceptedApp
from streamapp.protocol.driver_report import DriverState, Report, ReportedWarning
from streamapp.protocol.wanted_state import WantedState
from streamapp.spec.value_types.durations import milliseconds
from streamapp.tasks.refusal import Refusal
from streamapp_runtime.driver.app_refusal import AppRefusedError
from streamapp_runtime.driver.batches.loop import Loop
from streamapp_runtime.driver.checkpoints.checkpoint_stream import CheckpointStream
from streamapp_runtime.driver.checkpoints.ownership import Ownership
from streamapp_runtime.driver.checkpoints.state_reset import StateReset
from streamapp_runtime.driver.executors.executor_locations import ExecutorLocations, no_locations
from streamapp_runtime.driver.executors.executor_pool import UNLIMITED_WORKERS, ExecutorPool
from streamapp_runtime.driver.executors.jvm import mute_jvm
from streamapp_runtime.driver.executors.spark_session import close_session, open_configured_session
from streamapp_runtime.driver.failures import RETRIABLE, FailedError
from streamapp_runtime.driver.modes.managed_follow import ManagedFollower
from streamapp_runtime.driver.modes.pod_environment import PodEnvironment
from streamapp_runtime.driver.modes.standalone_run import open_app_system, serve, start_loop, with_compaction
from streamapp_runtime.driver.modes.stop_signal import StopFlag
from streamapp_runtime.driver.modes.wanted_model import launch_wanted
from streamapp_runtime.driver.reporting.listeners import Listeners
from streamapp_runtime.driver.start.app_context import AppContext
from streamapp_runtime.driver.start.app_storage import storage_of
from streamapp_runtime.driver.start.launch import Launch, first_launch
from streamapp_runtime.driver.start.unsupported_fields import unsupported_fields
from streamapp_runtime.driver.start.user_functions import load_user_functions
from streamapp_runtime.lanes import tables_file
from streamapp_runtime.systems.stream_system import FencedError
from streamapp_runtime.transport.message_transport import MessageTransport

MODEL_SECONDS = 300.0
"""How long a driver waits for a model that it can take."""
POLL_SECONDS = 0.2


class StoppedError(Exception):
    """The driver was told to end before it had begun."""


def run_managed(
    accepted: AcceptedApp,
    post: PodEnvironment,
    carrier: MessageTransport,
    stop: StopFlag,
    hearers: Listeners,
    places: ExecutorLocations = no_locations,
) -> None:
    """Run an accepted app by the models that are wanted, until it ends or is told to.

    RefusedError when it cannot run as it is, FailedError when it may be tried again.
    """
    app = accepted.app
    carrier.report(_beginning(accepted, post.pod, DriverState.STARTING))
    if problems := unsupported_fields(app):
        raise AppRefusedError(problems)
    home = replace(storage_of(app, post.state, post.secrets), state=post.state / "state")
    system = open_app_system(home)
    shape = post.spark()
    if is_embedded(app):
        shape["spark.master"] = "local[1]"  # the log is in this pod, and nobody else reaches it
    session = open_configured_session(app.application_id, shape)
    force = ExecutorPool(app.application_id, session, lambda _: None, UNLIMITED_WORKERS)
    try:
        ledger = CheckpointStream(system, checkpoint_stream(app.application_id))
        wanted = _awaited(carrier, accepted, stop, None)
        try:
            run = wanted.model.run_id if wanted.model else uuid4().hex
            ledger.open(run, Ownership.of_cluster(accepted), StateReset.of_cluster(accepted))
            site = AppContext(app, home, system, ledger, load_user_functions(app))
            ready, wanted = _first(site, session, accepted, post, carrier, stop, wanted)
        except (FencedError, *RETRIABLE) as error:
            raise FailedError(f"the start failed: {error}") from error
        hearers.launched(ready)
        tables_file.write_tables_file(Path(ready.setup.state), ready.program.tables, ready.setup)
        loop = _loop(session, ready, hearers, places)
        beside = ManagedFollower(loop, accepted, carrier, force, post.pod, hearers.changed, wanted)
        carrier.report(replace(_beginning(accepted, post.pod, DriverState.WAITING), run_id=ledger.run_id))
        force.call(len(ready.lanes))
        start_loop(loop)
        serve(loop, beside, stop, hearers.heard, with_compaction(system, hearers.idle))
        loop.release()
        beside.tell(ended=True)
        loop.close_turn()
    except StoppedError:
        return
    finally:
        mute_jvm()
        close_session(session)
        system.close()


def _loop(session: SparkSession, ready: Launch, hearers: Listeners, places: ExecutorLocations) -> Loop:
    spec, site = ready.app.spec, ready.site
    return Loop(
        session,
        site.system,
        site.ledger,
        ready,
        spec.batch.rows,
        interval=milliseconds(spec.batch.interval) / 1000,
        delay=milliseconds(spec.rebalance_delay) / 1000,
        first=milliseconds(spec.executor.start_timeout) / 1000,
        places=places,
        trouble=hearers.trouble,
        changed=hearers.changed,
    )


def _first(
    site: AppContext,
    session: SparkSession,
    accepted: AcceptedApp,
    post: PodEnvironment,
    carrier: MessageTransport,
    stop: StopFlag,
    wanted: WantedState,
) -> tuple[Launch, WantedState]:
    """The first model that can be taken; of one that contradicts the state the operator is told why."""
    while True:
        if wanted.model is None:  # there is state that only the driver can look into: it makes the first one
            return first_launch(site, session, wanted.processors or site.app.spec.processors), wanted
        found = launch_wanted(site, session, wanted, wanted.model)
        if not isinstance(found, Refusal):
            return found, wanted
        carrier.report(
            replace(
                _beginning(accepted, post.pod, DriverState.STARTING),
                incarnation=site.ledger.incarnation,
                run_id=site.ledger.run_id,
                layout=site.ledger.layout,
                warnings=(ReportedWarning(found.reason, found.path, found.message, wanted.model.version),),
            )
        )
        wanted = _awaited(carrier, accepted, stop, wanted)


def _beginning(accepted: AcceptedApp, pod: str, state: DriverState) -> Report:
    """What a driver can say before it has a model."""
    return Report(state, driver=pod, spec_hash=accepted.hash, generation=accepted.generation)


def _awaited(
    carrier: MessageTransport, accepted: AcceptedApp, stop: StopFlag, other_than: WantedState | None
) -> WantedState:
    """What is wanted of a driver of this app."""
    deadline = time.monotonic() + MODEL_SECONDS
    while time.monotonic() < deadline:
        if stop.is_set():
            raise StoppedError
        wanted = carrier.wanted()
        if wanted is not None and wanted != other_than and wanted.spec_hash in {"", accepted.hash}:
            return wanted
        stop.wait(POLL_SECONDS)
    raise FailedError(f"no model for this app came within {MODEL_SECONDS:g} s")
