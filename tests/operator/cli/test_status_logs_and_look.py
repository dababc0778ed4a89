"""What people ask of a cluster from their machine: how an app is, what it wrote, what an edit would do."""

import json
from typing import Any

import pytest
from click.testing import CliRunner, Result

from streamapp.cli.option_groups import ClusterAccess
from streamapp.cli.output_option import UnreachableError
from streamapp.protocol.start_steps import StartStep
from streamapp.spec.parser import parse_data
from streamapp.spec.resource.app import StreamApp
from streamapp_operator.cli.logs import logs
from streamapp_operator.cli.look import look
from streamapp_operator.cli.status import status
from streamapp_operator.reconciler.facts.timestamps import parse_timestamp
from tests.harness.operator.operator_sim import ON_SERVED_MEMORY, OperatorSim
from tests.harness.operator.small_apps import join

pytestmark = ON_SERVED_MEMORY


def told(sim: OperatorSim, *args: str) -> Result:
    return CliRunner().invoke(status, [*args, *sim.cluster_options()])


def app(sim: OperatorSim, **spec: Any) -> StreamApp:
    data = join(**spec)
    data["metadata"]["namespace"] = sim.namespace
    (found,) = parse_data(data).apps
    return found


def test_an_app_that_is_ready_is_told_with_0(sim: OperatorSim) -> None:
    sim.bring_up(join())
    result = told(sim, "app")
    assert result.exit_code == 0
    assert f"{sim.namespace}/app: Running" in result.output
    assert "8 on 2 processors" in result.output
    assert "app-driver-1 on node-a, 0 restarts" in result.output
    assert "*" not in result.output


def test_what_is_not_as_it_should_be_is_told_with_its_reason_and_1(sim: OperatorSim) -> None:
    sim.bring_up(join())
    sim.edit(serviceAccountName="admin")
    sim.end(code=3)
    sim.settle()
    result = told(sim, "app")
    assert result.exit_code == 1
    assert "2, of which 1 runs" in result.output
    assert "* Accepted" in result.output
    assert (
        'spec.serviceAccountName: this installation does not allow the service account "admin"'
        in result.output
    )
    assert "last ending  retry" in result.output


def test_the_steps_of_the_last_start_are_shown(sim: OperatorSim) -> None:
    sim.bring_up(join())
    executors = [sim.executor(number, driver="app-driver-1") for number in (1, 2)]
    pod = sim.driver()["metadata"]
    made_at = parse_timestamp(pod["creationTimestamp"])
    assert made_at is not None
    steps = {StartStep.PROCESS: 3.25, StartStep.SPARK: 9.0, StartStep.LAUNCH: 12.5, "later": 13.0}
    sim.report(start={name: made_at + seconds for name, seconds in steps.items()})
    lines = told(sim, "app").output.splitlines()
    assert "  last start   no batch yet" in lines
    steps |= {StartStep.BATCH: 20.0}
    sim.report(start={name: made_at + seconds for name, seconds in steps.items()})
    lines = told(sim, "app").output.splitlines()
    begin = lines.index("  last start   first batch 20.0 s after the pod was created")
    shown = [line.strip() for line in lines[begin + 1 :]]
    assert "0.0 s  pod created" in shown
    assert "3.2 s  process started" in shown
    assert "9.0 s  Spark session started" in shown
    assert any(line.endswith("executors started: 2 of 2") for line in shown)
    assert "20.0 s  first batch committed" in shown
    assert not any("later" in line for line in shown)
    for name in executors:
        sim.remove(name)


def test_a_standby_is_measured_from_where_it_took_over(sim: OperatorSim) -> None:
    sim.bring_up(join())
    sim.pass_time(600)
    sim.edit(restartNonce=1)
    sim.settle()
    sim.remove("app-driver-1")
    sim.settle()
    made_at = parse_timestamp(sim.driver()["metadata"]["creationTimestamp"])
    assert made_at is not None
    steps = {StartStep.STANDBY: 30.0, StartStep.TAKE_OVER: 41.0, StartStep.BATCH: 43.5}
    sim.report(start={name: made_at + seconds for name, seconds in steps.items()})
    output = told(sim, "app").output
    assert "first batch 43.5 s after the pod was created, 2.5 s after it took over" in output


def test_the_status_is_given_as_it_is(sim: OperatorSim) -> None:
    sim.bring_up(join())
    assert json.loads(told(sim, "app", "-o", "json").output) == sim.status()


def test_an_app_that_is_not_there_is_named(sim: OperatorSim) -> None:
    result = told(sim, "nobody")
    assert result.exit_code == 1
    assert f'there is no StreamApp "nobody" in namespace {sim.namespace}' in result.output


def test_an_app_without_a_driver_has_written_nothing(sim: OperatorSim) -> None:
    sim.apply(join(suspend=True))
    sim.settle()
    result = CliRunner().invoke(logs, ["app", *sim.cluster_options()])
    assert result.exit_code == 1
    assert 'app "app" has no driver' in result.output


def test_counts_and_layout_come_from_the_driver_that_runs(sim: OperatorSim) -> None:
    sim.bring_up(join())
    found = look(app(sim), ClusterAccess(sim.namespace, sim.kubeconfig()))
    assert {name: found.counts[name] for name in ("views", "users")} == {"views": 8, "users": 8}
    assert found.layout == sim.wanted().layout
    assert found.problems == ()


def test_a_change_that_state_forbids_is_told_before_it_is_applied(sim: OperatorSim) -> None:
    sim.bring_up(join())
    other = app(sim, state={"persistentVolumeClaim": {"size": "1Gi"}})
    (problem,) = look(other, ClusterAccess(sim.namespace, sim.kubeconfig())).problems
    assert problem.path == "spec.state.persistentVolumeClaim"


@pytest.mark.usefixtures("process")
def test_brokers_that_do_not_answer_are_told(sim: OperatorSim) -> None:
    other = app(sim, systems=[{"name": "main", "kafka": {"bootstrapServers": "127.0.0.1:1"}}])
    with pytest.raises(UnreachableError, match='the system "main" cannot be asked: no broker can be reached'):
        look(other, ClusterAccess(sim.namespace, sim.kubeconfig()))
