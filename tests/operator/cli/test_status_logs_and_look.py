"""What people ask of a cluster from their machine: how an app is, what it wrote, what an edit would do."""

import json
from typing import Any

import pytest
from click.testing import CliRunner, Result

from streamapp.cli.facts.live_lookup import ClusterAccess
from streamapp.cli.unreachable import UnreachableError
from streamapp.spec.parser import parse_data
from streamapp.spec.resource.app import StreamApp
from streamapp_operator.cli.logs import logs
from streamapp_operator.cli.look import look
from streamapp_operator.cli.status import status
from tests.harness.api_server.api_server import ApiServer
from tests.harness.operator.operator_sim import OperatorSim
from tests.harness.operator.small_apps import join


def kubeconfig(sim: OperatorSim) -> str:
    assert isinstance(sim.server, ApiServer)
    return str(sim.server.kubeconfig())


def told(sim: OperatorSim, *args: str) -> Result:
    where = ["--namespace", sim.namespace, "--kubeconfig", kubeconfig(sim)]
    return CliRunner().invoke(status, [*args, *where])


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
    where = ["--namespace", sim.namespace, "--kubeconfig", kubeconfig(sim)]
    result = CliRunner().invoke(logs, ["app", *where])
    assert result.exit_code == 1
    assert 'app "app" has no driver' in result.output


def test_counts_and_layout_come_from_the_driver_that_runs(sim: OperatorSim) -> None:
    sim.bring_up(join())
    found = look(app(sim), ClusterAccess(sim.namespace, kubeconfig(sim)))
    assert {name: found.counts[name] for name in ("views", "users")} == {"views": 8, "users": 8}
    assert found.layout == sim.wanted().layout
    assert found.problems == ()


def test_a_change_that_state_forbids_is_told_before_it_is_applied(sim: OperatorSim) -> None:
    sim.bring_up(join())
    other = app(sim, state={"persistentVolumeClaim": {"size": "1Gi"}})
    (problem,) = look(other, ClusterAccess(sim.namespace, kubeconfig(sim))).problems
    assert problem.path == "spec.state.persistentVolumeClaim"


def test_brokers_that_do_not_answer_are_told(sim: OperatorSim) -> None:
    other = app(sim, systems=[{"name": "main", "kafka": {"bootstrapServers": "127.0.0.1:1"}}])
    with pytest.raises(UnreachableError, match='the system "main" cannot be asked: looking at topic'):
        look(other, ClusterAccess(sim.namespace, kubeconfig(sim)))
