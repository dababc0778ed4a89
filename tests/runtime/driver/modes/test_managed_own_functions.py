"""A driver under an operator asks the app's own functions, and runs the model that is made of the answers."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from streamapp.protocol.accepted_app import AcceptedApp
from streamapp.protocol.driver_report import DriverState, Report
from streamapp.protocol.wanted_state import WantedState
from streamapp.spec.parser import parse_data
from streamapp.spec.reasons import Reason
from streamapp.spec.resource.app import StreamApp
from streamapp.spec.resource.config_keys import ALGORITHM
from streamapp.spec.serialization import as_data
from streamapp_operator.reconciler.facts.facts import (
    AppFacts,
    ClusterFacts,
    DesiredModel,
    Facts,
    NewestGeneration,
    PublishedRun,
)
from streamapp_operator.reconciler.partition_counts.lookup_results import KnownCounts
from streamapp_operator.reconciler.planning.generation_plan import plan_generation
from streamapp_operator.reconciler.planning.model_update import ModelUpdate, model_update
from streamapp_runtime.driver.app_refusal import AppRefusedError
from streamapp_runtime.driver.batches.run_change import RunChange
from streamapp_runtime.driver.batches.run_settings import CurrentRun
from streamapp_runtime.driver.checkpoints.checkpoint_stream import CheckpointStream
from streamapp_runtime.driver.executors.executor_pool import ExecutorPool
from streamapp_runtime.driver.modes.managed import Managed
from streamapp_runtime.driver.modes.pod_environment import PodEnvironment
from streamapp_runtime.driver.reporting.run_report import run_report
from streamapp_runtime.driver.start.launch import Launch
from streamapp_runtime.transport.file_transport import FileTransport, read_report, write_wanted
from tests.harness.engine.one_system import OneSystem, storage_at_home
from tests.harness.runs.app_runs import AppEnv, inputs
from tests.harness.runs.chained_app import chained, everything_once_and_in_order, numbered
from tests.harness.runs.drained_loop import drain
from tests.harness.runs.growing_loop import Run
from tests.harness.runs.run_systems import ON_SPARK

CODE = "tests.harness.user_code.grouper_code"
UID = "5b1c"


def on_cluster(**spec: Any) -> StreamApp:
    """The app with its streams on brokers, so that an operator plans it."""
    data = as_data(chained(**spec))
    data["spec"]["systems"] = [{"name": "main", "kafka": {"bootstrapServers": "broker:9092"}}]
    (app,) = parse_data(data).apps
    return app


@dataclass
class Operator:
    """The rules of the operator, between the files of a folder."""

    app: StreamApp
    folder: Path
    ended: Event = field(default_factory=Event)
    reports: list[Report] = field(default_factory=list)
    _wanted: WantedState | None = None

    def want(self, wanted: WantedState) -> None:
        self._wanted = wanted
        write_wanted(self.folder, wanted)

    def plan(self, report: Report, counts: dict[str, int]) -> None:
        """What a reconcile makes of a report."""
        assert self._wanted is not None
        facts = Facts(
            AppFacts({"metadata": {"name": "app", "uid": UID}}, NewestGeneration(1, self.app)),
            time.time(),
            PublishedRun(report=report, desired=DesiredModel(self._wanted, "", "", 0, 1, was_reset=False)),
            cluster=ClusterFacts(counts={1: KnownCounts(counts)}),
        )
        accepted = AcceptedApp(self.app, 1)
        update = model_update(facts, accepted, plan_generation(facts, self.app, 1), replace_all=False)
        assert isinstance(update, ModelUpdate)
        self.want(update.wanted)

    def answer_first_report(self) -> None:
        while not self.ended.wait(0.02):
            report = read_report(self.folder)
            if report is not None and report.answers is not None:
                self.reports.append(report)
                self.plan(report, dict(report.answers.counts))
                return


@contextmanager
def answering(operator: Operator) -> Iterator[None]:
    thread = Thread(target=operator.answer_first_report)
    thread.start()
    try:
        yield
    finally:
        operator.ended.set()
        thread.join()


@dataclass
class Cluster:
    env: AppEnv
    app: StreamApp
    folder: Path

    def __post_init__(self) -> None:
        self.operator = Operator(self.app, self.folder)
        environment = PodEnvironment(self.folder, self.folder / "state", "wanted", "report", pod="driver-1")
        self.mode = Managed(AcceptedApp(self.app, 1), environment, FileTransport(self.folder))
        self.operator.want(WantedState(AcceptedApp(self.app).hash, 1))

    def first_launch(self) -> Launch:
        env = self.env
        ledger = CheckpointStream(env.system, f"{self.app.application_id}.checkpoint")
        self.mode.refuse_early(env.home)
        storage = storage_at_home(env.home, self.app)
        return self.mode.first_launch(storage, OneSystem(env.system, self.app), ledger, env.session, Event())


def tasks(launch: Launch) -> dict[str, list[int]]:
    return {task: [part.index for part in parts] for task, parts in launch.partitions.items()}


@ON_SPARK
def test_it_reports_the_answers_runs_the_model_made_of_them_and_asks_again_when_a_stream_grows(
    env: AppEnv, tmp_path: Path
) -> None:
    env.write("events", inputs(numbered(0, 4), "user"), 3)
    app = on_cluster(
        grouper=f"{CODE}:halves",
        config={ALGORITHM: f"{CODE}:remainder"},
        onPartitionChange="live",
        monitor={"interval": "1ms"},
        partitionSettle="0s",
    )
    cluster = Cluster(env, app, tmp_path)
    operator = cluster.operator
    with answering(operator):
        launch = cluster.first_launch()
    assert [report.state for report in operator.reports] == [DriverState.STARTING]
    assert tasks(launch) == {"east": [0, 2], "west": [1]}
    loop = env.loop(CurrentRun.of(launch, batch_rows=1_000), pause=lambda _: None)
    changes: list[RunChange] = []
    pool = ExecutorPool("one", env.session, lambda _: None, 1)
    follower = cluster.mode.follower(loop, pool, changes.append)
    follower.begin()
    loop.start()
    follower.follow(now=True)
    drain(loop)

    env.grow("events", 6)
    env.write("events", inputs(numbered(4, 8), "user"), 6)
    follower.follow(now=True)
    report = read_report(tmp_path)
    assert report is not None
    assert report.answers is not None
    assert (report.counts["events"], report.answers.counts["events"]) == (6, 6)
    operator.plan(report, dict(report.counts))
    assert follower.follow(now=True)
    assert tasks(loop.launch) == {"east": [0, 2, 3, 5], "west": [1, 4]}
    drain(loop)
    everything_once_and_in_order(env, 8)


def test_a_report_has_the_locations_that_executors_were_found_at(env: AppEnv) -> None:
    env.write("events", inputs(numbered(0, 1), "user"), 2)
    loop = Run.start(env, chained()).loop
    loop.lanes.supervisor.executors.store_locations = {"processor-0": "rack-7"}
    assert run_report(loop, None, None, ended=False).processor_locality() == {"processor-0": "rack-7"}


BAD: dict[str, tuple[dict[str, Any], str, str]] = {
    "no-module": ({"grouper": "nowhere.at_all:f"}, "spec.grouper", "nowhere.at_all:f cannot be loaded"),
    "raises": ({"grouper": f"{CODE}:raising"}, "spec.grouper", "raised LookupError: no region is known (in "),
    "wrong-type": ({"grouper": f"{CODE}:listed"}, "spec.grouper", "which is no mapping of tasks"),
    "twice": ({"grouper": f"{CODE}:twice"}, "spec.grouper", "gave events#0 to east and once more to west"),
    "missing": ({"grouper": f"{CODE}:forgetful"}, "spec.grouper", "left out events#0"),
    "moody": ({"grouper": f"{CODE}:moody"}, "spec.grouper", "another answer when it was called again"),
    "no-algorithm": (
        {"config": {ALGORITHM: f"{CODE}:absent"}},
        f"spec.config.{ALGORITHM}",
        f"{CODE}:absent cannot be loaded",
    ),
    "wild-algorithm": (
        {"config": {ALGORITHM: f"{CODE}:always_99"}},
        "spec.streams[0]",
        "the expansion algorithm gave 99, no index from 0 to 2",
    ),
    "no-provider": (
        {"placement": {"location": f"{CODE}:absent"}},
        "spec.placement.location",
        f"{CODE}:absent cannot be loaded",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_wrong_code_ends_the_start_with_one_refusal(env: AppEnv, tmp_path: Path, name: str) -> None:
    env.write("events", inputs(numbered(0, 1), "user"), 3)
    spec, path, text = BAD[name]
    with pytest.raises(AppRefusedError) as caught:
        Cluster(env, on_cluster(**spec), tmp_path).first_launch()
    (problem,) = caught.value.problems
    assert problem.path == path
    assert text in problem.message
    assert "\n" not in problem.message


def test_a_growth_that_the_algorithm_does_not_take_is_a_warning_and_the_app_goes_on(
    env: AppEnv, tmp_path: Path
) -> None:
    env.write("events", inputs(numbered(0, 4), "user"), 2)
    app = on_cluster(config={ALGORITHM: f"{CODE}:wild"}, monitor={"interval": "1ms"}, partitionSettle="0s")
    cluster = Cluster(env, app, tmp_path)
    with answering(cluster.operator):
        launch = cluster.first_launch()
    loop = env.loop(CurrentRun.of(launch, batch_rows=1_000), pause=lambda _: None)
    pool = ExecutorPool("one", env.session, lambda _: None, 1)
    changes: list[RunChange] = []
    follower = cluster.mode.follower(loop, pool, changes.append)
    loop.start()
    env.write("events", inputs(numbered(4, 8), "user"), 2)
    env.grow("events", 4)
    follower.follow(now=True)
    report = read_report(tmp_path)
    assert report is not None
    assert [one.reason for one in report.warnings] == [Reason.EXPANSION_ALGORITHM_INVALID]
    assert report.answers is not None
    assert report.answers.counts["events"] == 2
    assert len(changes) == 1
    drain(loop)
    everything_once_and_in_order(env, 8)
