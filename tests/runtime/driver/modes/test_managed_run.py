"""A driver runs what an operator wants, tells what is, and takes no model that contradicts the state."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from streamapp.author.names import checkpoint_stream
from streamapp.author.proposal import PlanningInputs, propose
from streamapp.jobmodel.job_model import JobModel
from streamapp.jobmodel.task_model import TaskModel
from streamapp.protocol.accepted_app import AcceptedApp, encode_accepted
from streamapp.protocol.driver_report import DriverState, Report
from streamapp.protocol.message_names import ACCEPTED, DRIVER_SHAPE
from streamapp.protocol.termination import RunOutcome, termination_of
from streamapp.protocol.wanted_state import WantedState
from streamapp.spec.reasons import Reason
from streamapp.spec.resource.app import StreamApp
from streamapp.tasks.layouts.layout import Layout
from streamapp_runtime.checkpoint_entries import LAYOUT
from streamapp_runtime.systems.embedded.embedded_system import EmbeddedSystem
from streamapp_runtime.systems.stream_system import StreamOptions
from streamapp_runtime.systems.topic_partition import TopicPartition
from streamapp_runtime.transport.file_transport import read_report, write_wanted
from tests.harness.machine.processes import java_children, until
from tests.harness.runs.app_runs import app, inputs, write_all
from tests.harness.runs.chained_app import EVENTS, chained, log_has_everything_once, numbered

PATIENCE_SECONDS = 400.0
REPOSITORY = Path(__file__).parents[4]


@dataclass(slots=True)
class Operator:
    """The other end of the protocol."""

    folder: Path
    system: EmbeddedSystem
    app: StreamApp
    process: subprocess.Popen[str] | None = None

    def accept(self) -> None:
        (self.folder / ACCEPTED).write_text(encode_accepted(AcceptedApp(self.app, 1)), "utf-8")

    def want(self, version: int, layout: Layout | None, run: str = "run-1") -> None:
        """A model for the streams as they are now."""
        counts = {name: self.system.partitions(name) for name in ("events", "out", "totals")}
        found = propose(self.app, PlanningInputs(counts, layout, run)).assignment
        assert found is not None
        model = JobModel.of(
            version=version,
            run_id=run,
            application_id=self.app.application_id,
            tasks=[TaskModel(name, parts, found.changelog[name]) for name, parts in found.tasks.items()],
            processors={"processor-0": list(found.tasks)},
        )
        write_wanted(
            self.folder, WantedState(AcceptedApp(self.app).hash, 1, model, replace(found.layout, run=run))
        )

    def start(self, log: Path | None = None) -> None:
        command = [sys.executable, "-m", "tests.harness.child_processes.managed_driver", str(self.folder)]
        with (log or Path(os.devnull)).open("w") as errors:
            stderr = errors if log else None
            self.process = subprocess.Popen(
                command, cwd=REPOSITORY, stdout=subprocess.PIPE, stderr=stderr, text=True
            )

    def until(self, wanted: Callable[[Report], bool]) -> Report:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            report = read_report(self.folder)
            if report is not None and wanted(report):
                return report
            assert self.process is None or self.process.poll() is None, "the driver has ended"
            time.sleep(0.1)
        raise AssertionError(f"the driver does not come to it: {read_report(self.folder)}")

    def read(self, rows: int) -> Callable[[Report], bool]:
        """Whether so many rows have been written."""

        def enough(_: Report) -> bool:
            parts = [TopicPartition("out", index) for index in range(self.system.partitions("out") or 0)]
            return sum(span.end for span in self.system.spans(parts).values()) >= rows

        return enough

    def stop(self) -> str:
        assert self.process is not None
        self.process.terminate()
        said, _ = self.process.communicate(timeout=PATIENCE_SECONDS)
        return said


@pytest.fixture
def operator(tmp_path: Path) -> Iterator[Operator]:
    system = EmbeddedSystem(tmp_path / "data")
    found = Operator(tmp_path, system, chained())
    found.accept()
    yield found
    if found.process is not None and found.process.poll() is None:
        found.process.kill()
        found.process.wait()
    system.close()


@pytest.mark.usefixtures("process")
def test_it_runs_the_model_takes_up_another_and_refuses_one_that_contradicts_the_state(
    operator: Operator,
) -> None:
    write_all(operator.system, "events", inputs(numbered(0, 4), "user"), 2)
    operator.want(1, None)
    operator.start()
    first = operator.until(lambda report: report.state is DriverState.RUNNING and report.model_version == 1)
    assert (first.driver, first.run_id) == ("driver-1", "run-1")
    assert first.counts["events"] == 2
    operator.until(operator.read(len(numbered(0, 4))))

    operator.system.grow("events", 4)
    write_all(operator.system, "events", inputs(numbered(4, 8), "user"), 4)
    told_of_growth = operator.until(lambda report: report.counts.get("events") == 4)
    assert told_of_growth.model_version == 1
    operator.want(7, None)  # made in ignorance of the state: four tasks instead of two
    refused = operator.until(lambda report: bool(report.warnings))
    assert refused.warnings[0].reason == Reason.LAYOUT_CONFLICT
    assert (refused.warnings[0].model_version, refused.model_version) == (7, 1)

    operator.want(8, refused.layout)  # made with the layout that the driver told
    operator.until(lambda report: report.model_version == 8 and not report.warnings)
    operator.until(operator.read(len(numbered(0, 8))))
    last = termination_of(0, operator.stop())
    assert last.outcome is RunOutcome.DONE
    ended = read_report(operator.folder)
    assert ended is not None
    assert ended.state is DriverState.ENDED
    log_has_everything_once(operator.system, 8)


@pytest.mark.usefixtures("process")
def test_the_jvm_that_a_driver_starts_before_its_imports_is_the_one_that_it_uses(operator: Operator) -> None:
    rows = numbered(0, 4)
    write_all(operator.system, "events", inputs(rows, "user"), 2)
    operator.want(1, None)
    operator.start()
    assert operator.process is not None
    pid = operator.process.pid
    until(lambda: java_children(pid), PATIENCE_SECONDS)
    started = java_children(pid)
    operator.until(operator.read(len(rows)))
    assert java_children(pid) == started
    operator.stop()


@pytest.mark.usefixtures("process")
def test_the_first_model_may_be_the_drivers_own_which_then_tells_the_layout(operator: Operator) -> None:
    write_all(operator.system, "events", inputs(numbered(0, 2), "user"), 2)
    write_wanted(operator.folder, WantedState(AcceptedApp(operator.app).hash, 1))
    operator.start()
    report = operator.until(lambda report: report.state is DriverState.RUNNING and report.layout is not None)
    assert report.layout is not None
    assert report.layout.streams["events"].initial == 2
    operator.until(operator.read(len(numbered(0, 2))))
    operator.stop()
    log_has_everything_once(operator.system, 2)


@pytest.mark.usefixtures("process")
def test_state_that_cannot_be_read_is_told_to_the_operator_as_what_the_app_has_to_mend(
    operator: Operator,
) -> None:
    stream = checkpoint_stream(operator.app.application_id)
    operator.system.create(stream, 1, StreamOptions(compacted=True))
    transaction = operator.system.begin(stream, 1)
    transaction.put(stream, LAYOUT.key, b"torn")
    transaction.commit()
    write_wanted(operator.folder, WantedState(AcceptedApp(operator.app).hash, 1))
    operator.start()
    assert operator.process is not None
    output, _ = operator.process.communicate(timeout=PATIENCE_SECONDS)
    last = termination_of(operator.process.returncode, output)
    assert (last.code, last.outcome) == (1, RunOutcome.CONFIG)
    assert last.message.startswith(f"{stream}, partition 0: layout: it cannot be read")
    assert "resetNonce" in last.message


@pytest.mark.usefixtures("process")
def test_what_a_worker_writes_and_raises_has_no_value_of_a_secret(
    operator: Operator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The driver of this test takes nothing out of what its workers and its Spark say."""
    word = "a-word-that-nobody-may-read"
    monkeypatch.setenv("WORD", word)
    process = {"from": "events", "python": "tests.harness.user_code.leaking_code:Leaking"}
    operator.app = app(
        {"name": "leak", "process": process | {"columns": "user STRING, n BIGINT"}},
        {"name": "sent", "sendTo": {"from": "leak", "stream": "out"}},
        {"name": "total", "aggregate": {"from": "events", "aggregates": "sum(n) AS total"}},
        {"name": "told", "sendTo": {"from": "total", "stream": "totals"}},
        streams=[EVENTS, {"name": "out", "key": "user"}, {"name": "totals", "key": "user"}],
    )
    operator.accept()
    variable = {"name": "WORD", "valueFrom": {"secretKeyRef": {"name": "words", "key": "word"}}}
    spec = {"containers": [{"name": "driver", "env": [variable]}]}
    (operator.folder / DRIVER_SHAPE).write_text(
        json.dumps({"format": 1, "template": {"spec": spec}}), "utf-8"
    )
    write_all(operator.system, "events", inputs(numbered(0, 4), "user"), 2)
    operator.want(1, None)
    log = tmp_path / "driver.log"
    operator.start(log)
    assert operator.process is not None
    said, _ = operator.process.communicate(timeout=PATIENCE_SECONDS)
    said += log.read_text("utf-8")
    assert operator.process.returncode != 0
    assert "cannot log in with ***" in said
    assert "written by a worker: ***" in said
    assert "logged by a worker: ***" in said
    assert word not in said
