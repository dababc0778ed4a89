"""The history of an app: a ControllerRevision for each spec that a driver of it ran."""

from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest

from streamapp.protocol.driver_report import DriverState
from streamapp.spec.app_bounds import MOST_REVISIONS
from tests.harness.api_server.api_server import ApiServer
from tests.harness.machine.processes import until
from tests.harness.operator.operator_processes import Operator
from tests.harness.operator.operator_sim import ON_REAL_SERVER, OperatorSim
from tests.harness.operator.small_apps import join

APPS = "apis/apps/v1"
WHOLE = "tests.harness.operator.whole_operator"
MERGE = "application/merge-patch+json"
SPEC_HASH, CHANGED = "streamapp.dev/spec-hash", "streamapp.dev/changed-fields"


def revisions(sim: OperatorSim) -> list[dict[str, Any]]:
    """The revisions that the operator made, by number."""
    made = [
        item for item in sim.objects("controllerrevisions", APPS) if "ownerReferences" in item["metadata"]
    ]
    return sorted(made, key=lambda item: int(item["revision"]))


def numbers(sim: OperatorSim) -> list[int]:
    return [revision["revision"] for revision in revisions(sim)]


def changed(revision: dict[str, Any]) -> str | None:
    text: str | None = revision["metadata"]["annotations"].get(CHANGED)
    return text


def revision_path(sim: OperatorSim, number: int) -> str:
    return f"/{APPS}/namespaces/{sim.namespace}/controllerrevisions/app-revision-{number}"


def run(sim: OperatorSim, **spec: Any) -> None:
    """Edit the app, and have a driver run the edit."""
    sim.edit(**spec)
    sim.settle()
    pod = sim.driver()
    if pod["metadata"].get("deletionTimestamp"):
        sim.remove(sim.end(code=0))
        sim.settle()
    if "nodeName" not in sim.driver()["spec"]:
        sim.begin()
    sim.report()
    sim.settle()


@ON_REAL_SERVER
def test_a_generation_that_runs_is_recorded_with_its_spec_and_its_owner(sim: OperatorSim) -> None:
    sim.bring_up(join(batch={"rows": 500}))
    (revision,) = revisions(sim)
    assert (revision["metadata"]["name"], revision["revision"]) == ("app-revision-1", 1)
    (owner,) = revision["metadata"]["ownerReferences"]
    assert (owner["uid"], owner["controller"]) == (sim.app()["metadata"]["uid"], True)
    assert revision["metadata"]["labels"]["streamapp.dev/generation"] == "1"
    spec = revision["data"]["spec"]
    assert spec["batch"] == {"rows": 500}
    assert "delivery" not in spec  # which the API server filled in
    assert sim.app()["spec"]["delivery"] == "exactlyOnce"
    assert changed(revision) is None


def test_nothing_is_recorded_before_a_driver_runs_it(sim: OperatorSim) -> None:
    sim.apply(join())
    sim.settle()
    sim.begin()
    assert numbers(sim) == []
    sim.report(DriverState.WAITING)
    sim.settle()
    assert numbers(sim) == []
    sim.report()
    sim.settle()
    assert numbers(sim) == [1]


def test_a_batch_app_that_has_come_to_its_end_is_recorded(sim: OperatorSim) -> None:
    sim.apply(join())
    sim.settle()
    sim.begin()
    sim.report(DriverState.ENDED)
    sim.end(code=0)
    sim.settle()
    assert numbers(sim) == [1]


def test_an_edit_that_runs_live_is_recorded_with_what_it_changed(sim: OperatorSim) -> None:
    sim.bring_up(join())
    run(sim, batch={"rows": 500}, partitionSettle="1m")
    assert numbers(sim) == [1, 2]
    first, second = revisions(sim)
    assert changed(second) == "batch.rows, partitionSettle"
    assert second["metadata"]["labels"]["streamapp.dev/generation"] == "2"
    assert "batch" not in first["data"]["spec"]


def test_an_edit_that_restarts_the_driver_is_recorded_when_the_next_driver_runs(sim: OperatorSim) -> None:
    sim.bring_up(join())
    sim.edit(env=[{"name": "A", "value": "b"}])
    sim.settle()
    assert numbers(sim) == [1]
    run(sim)
    assert changed(revisions(sim)[-1]) == "env[A]"


def test_an_edit_that_is_refused_is_not_recorded(sim: OperatorSim) -> None:
    sim.bring_up(join())
    sim.edit(serviceAccountName="admin")
    sim.settle()
    sim.report()
    sim.settle()
    assert sim.says("Accepted")[0] == "False"
    assert numbers(sim) == [1]


@pytest.mark.parametrize(
    "operated",
    [{"processors": 3}, {"restartNonce": 5}, {"revisionHistoryLimit": 3}],
    ids=lambda spec: next(iter(spec)),
)
def test_fields_by_which_an_app_is_operated_make_no_revision(
    sim: OperatorSim, operated: dict[str, Any]
) -> None:
    sim.bring_up(join())
    run(sim, **operated)
    assert numbers(sim) == [1]
    assert not operated.keys() & revisions(sim)[0]["data"]["spec"].keys()


def test_an_app_that_is_suspended_and_resumed_has_no_revision_more(sim: OperatorSim) -> None:
    sim.bring_up(join())
    sim.edit(suspend=True)
    sim.settle()
    sim.remove(sim.end(code=0))
    sim.settle()
    assert numbers(sim) == [1]
    run(sim, suspend=False)
    assert numbers(sim) == [1]


def test_a_spec_that_runs_again_has_a_new_number_and_no_other(sim: OperatorSim) -> None:
    sim.bring_up(join())
    run(sim, batch={"rows": 500})
    run(sim, batch={"rows": 600})
    assert numbers(sim) == [1, 2, 3]
    run(sim, batch={"rows": 500})
    assert numbers(sim) == [1, 3, 4]
    assert revisions(sim)[-1]["data"]["spec"]["batch"] == {"rows": 500}


def test_no_more_than_the_limit_are_kept_beside_the_current_one(sim: OperatorSim) -> None:
    sim.bring_up(join(revisionHistoryLimit=2))
    for rows in (501, 502, 503, 504):
        run(sim, batch={"rows": rows})
    assert numbers(sim) == [3, 4, 5]
    run(sim, revisionHistoryLimit=0)
    assert numbers(sim) == [5]
    run(sim, batch={"rows": 505})
    assert numbers(sim) == [6]


@ON_REAL_SERVER
def test_a_limit_beyond_the_most_is_refused_by_the_api_server(sim: OperatorSim) -> None:
    sim.apply(join(revisionHistoryLimit=MOST_REVISIONS))
    path = f"/apis/streamapp.dev/v1alpha1/namespaces/{sim.namespace}/streamapps/app"
    body = {"spec": {"revisionHistoryLimit": MOST_REVISIONS + 1}}
    code, answer = sim.server.call("PATCH", path, body, MERGE)
    assert (code, "revisionHistoryLimit" in answer) == (422, True)


def test_nothing_is_read_or_written_while_the_history_is_as_it_should_be(sim: OperatorSim) -> None:
    sim.bring_up(join())
    run(sim, batch={"rows": 500})
    sim.calls.clear()
    sim.reconcile()
    assert {verb for verb, _ in sim.calls} <= {"list"}  # the harness fills its cache


def test_a_current_revision_that_somebody_deletes_is_recorded_again(sim: OperatorSim) -> None:
    sim.bring_up(join())
    run(sim, batch={"rows": 500})
    sim.server.ask("DELETE", revision_path(sim, 2))
    sim.settle()
    assert numbers(sim) == [1, 2]
    assert changed(revisions(sim)[-1]) == "batch.rows"
    sim.server.ask("DELETE", revision_path(sim, 1))
    sim.settle()
    assert numbers(sim) == [2]


@pytest.mark.parametrize(
    "damage",
    [
        {"metadata": {"annotations": {SPEC_HASH: "x"}}},
        {"metadata": {"annotations": None}},
        {"metadata": {"labels": {"streamapp.dev/app": None}}},
        {"metadata": {"labels": {"streamapp.dev/role": None}}},
        {"revision": 77},
    ],
    ids=["another hash", "no annotations", "no app label", "no role label", "another number"],
)
def test_a_revision_that_somebody_damages_stops_nothing(sim: OperatorSim, damage: dict[str, Any]) -> None:
    sim.bring_up(join())
    sim.server.ask("PATCH", revision_path(sim, 1), damage, MERGE)
    sim.settle()
    run(sim, batch={"rows": 500})
    newest = revisions(sim)[-1] if "revision" not in damage else revisions(sim)[0]
    assert newest["data"]["spec"]["batch"] == {"rows": 500}
    assert sim.says("Ready") == ("True", "Running")
    assert sim.says("Degraded") == ("False", "Healthy")


def test_a_revision_whose_data_are_no_spec_says_nothing_of_what_changed(sim: OperatorSim) -> None:
    sim.bring_up(join())
    forged = revisions(sim)[0]
    metadata = {name: forged["metadata"][name] for name in ("name", "labels", "ownerReferences")}
    sim.server.ask("DELETE", revision_path(sim, 1))
    body = {**forged, "metadata": metadata, "data": {"spec": ["nothing"]}}
    sim.server.ask("POST", revision_path(sim, 1).rpartition("/")[0], body)
    run(sim, batch={"rows": 500})
    assert numbers(sim) == [1, 2]
    assert changed(revisions(sim)[-1]) is None
    assert sim.says("Degraded") == ("False", "Healthy")


def test_somebody_elses_object_of_that_name_is_left_alone_and_named(sim: OperatorSim) -> None:
    foreign = {
        "apiVersion": "apps/v1",
        "kind": "ControllerRevision",
        "metadata": {"name": "app-revision-1"},
        "revision": 1,
        "data": {"a": "b"},
    }
    sim.server.ask("POST", revision_path(sim, 1).rpartition("/")[0], foreign)
    sim.bring_up(join())
    assert sim.says("Ready") == ("True", "Running")
    assert sim.says("Degraded") == ("True", "NameTaken")
    assert (
        "ControllerRevision app-revision-1 belongs to another owner" in sim.condition("Degraded")["message"]
    )
    assert sim.server.ask("GET", revision_path(sim, 1))["data"] == {"a": "b"}
    sim.server.ask("DELETE", revision_path(sim, 1))
    sim.settle()
    assert numbers(sim) == [1]
    assert sim.says("Degraded") == ("False", "Healthy")


@pytest.mark.usefixtures("process")
def test_an_edit_after_which_hundreds_of_names_differ_names_the_first_of_them(sim: OperatorSim) -> None:
    sim.bring_up(join())
    run(sim, env=[{"name": f"V{number:03}", "value": "x"} for number in range(128)])
    text = changed(revisions(sim)[-1])
    assert text is not None
    assert text.startswith("env[V000], env[V001], ")
    assert text.endswith(", env[V049], and 78 more")


def test_no_value_of_a_secret_is_in_a_revision(sim: OperatorSim) -> None:
    word = "a-word-that-nobody-may-read"
    secret = {"metadata": {"name": "kafka"}, "stringData": {"sasl.password": word}}
    sim.server.ask("POST", f"/api/v1/namespaces/{sim.namespace}/secrets", secret)
    kafka = {"bootstrapServers": "kafka:9092", "configSecret": {"name": "kafka"}}
    variable = {"name": "P", "valueFrom": {"secretKeyRef": {"name": "kafka", "key": "sasl.password"}}}
    sim.bring_up(join(systems=[{"name": "main", "kafka": kafka}], env=[variable]))
    (revision,) = revisions(sim)
    assert revision["data"]["spec"]["systems"][0]["kafka"] == kafka
    assert word not in str(revision)
    assert b64encode(word.encode()).decode() not in str(revision)


@ON_REAL_SERVER
def test_the_whole_operator_records_a_spec_sees_it_deleted_and_then_rests(
    sim: OperatorSim, tmp_path: Path
) -> None:
    assert isinstance(sim.server, ApiServer)
    log = tmp_path / "operator.log"
    with Operator(sim.server, sim.namespace, log, patience=0.05, module=WHOLE) as operator:
        sim.apply(join())
        until(lambda: bool(sim.drivers()), 60, operator)
        sim.begin()
        sim.report()
        until(lambda: numbers(sim) == [1], 60, operator)
        first = revisions(sim)[0]["metadata"]["uid"]
        sim.server.ask("DELETE", revision_path(sim, 1))
        until(lambda: [one["metadata"]["uid"] != first for one in revisions(sim)] == [True], 60, operator)
        until(lambda: _rests(operator), 120, operator)
        assert operator.measured("streamapp_operator_watch_missed_total") == {}


def _rests(operator: Operator) -> bool:
    """Whether nothing is written until all that is cached has been compared once more."""
    writes, comparisons = operator.writes(), _comparisons(operator)
    until(lambda: _comparisons(operator) > comparisons, 60, operator)
    return operator.writes() == writes


def _comparisons(operator: Operator) -> float:
    return min(operator.measured("streamapp_operator_comparisons_total").values(), default=0.0)
