"""A driver that the operator made runs as a process; it takes up live edits, others begin the next driver."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from streamapp.protocol.driver_report import DriverState
from streamapp_runtime.systems.topic_partition import TopicPartition
from tests.harness.engine.record_values import batch, write
from tests.harness.machine.processes import free_port, until
from tests.harness.operator.driver_process import LINES, PATIENCE_SECONDS, Acted, acting, copying
from tests.harness.operator.operator_sim import ON_REAL_SERVER, OperatorSim
from tests.harness.operator.simulated_cluster import incarnation_in
from tests.harness.runs.run_process import got

pytestmark = ON_REAL_SERVER

LIVE: dict[str, dict[str, Any]] = {
    "spec.batch.rows": {"batch": {"rows": 7}},
    "spec.rebalanceDelay": {"rebalanceDelay": "1s"},
    "spec.executor.startTimeout": {"executor": {"startTimeout": "9s"}},
    "spec.partitionSettle": {"partitionSettle": "1s"},
    "spec.placement.hostAffinity": {"placement": {"hostAffinity": False}},
    "spec.restartPolicy.backoff": {"restartPolicy": {"backoff": "1s"}},
    "spec.onPartitionChange": {"onPartitionChange": "restart"},
    "spec.takeOver": {"takeOver": True},
    "spec.config.job.control.interval": {"config": {"job.control.interval": "5"}},
    "spec.ttlSecondsAfterFinished": {"ttlSecondsAfterFinished": 9},
    "spec.monitor.interval": {"monitor": {"interval": "1s"}},
}

REFUSED: list[tuple[dict[str, Any], str, str]] = [
    (
        {"map": {"from": "lines", "select": "from_json(text, 'a NONSENSE') AS text"}},
        "spec.operators[0].map.select",
        "NONSENSE",
    ),
    (
        {"map": {"from": "lines", "python": "nowhere.at_all:scores", "columns": "text STRING"}},
        "spec.operators[0].map",
        "No module named",
    ),
]
"""Steps that only Spark or the app's image can judge, the path of the refusal, and a part of its words."""


def counting() -> dict[str, Any]:
    app = copying()
    lines, copied = app["spec"]["streams"]
    counted = {"from": "lines", "key": "text", "aggregates": "count(*) AS times"}
    app["spec"]["streams"] = [lines | {"key": "text", "start": "latest"}, copied | {"key": "text"}]
    app["spec"]["operators"] = [
        {"name": "totals", "aggregate": counted},
        {"name": "out", "sendTo": {"from": "totals", "stream": "copied"}},
    ]
    return app


def looking_up() -> dict[str, Any]:
    app = copying()
    spec = app["spec"]
    spec["streams"][0]["key"] = "text"
    spec["streams"].append(
        {"name": "codes", "system": "main", "key": "text", "columns": "text STRING, code INT"}
    )
    side = {"stream": "codes", "bootstrap": True, "versions": "nullKey"}
    spec["tables"] = [{"name": "codes", "store": "lmdb", "sideInputs": [side]}]
    spec["operators"] = [
        {"name": "coded", "joinTable": {"from": "lines", "table": "codes", "select": "text, code"}},
        {"name": "out", "sendTo": {"from": "coded", "stream": "copied"}},
    ]
    return app


@pytest.fixture
def acted(sim: OperatorSim, tmp_path: Path) -> Iterator[Acted]:
    with acting(sim, tmp_path, copying()) as made:
        yield made


def ready(sim: OperatorSim) -> tuple[str, int]:
    found = sim.condition("Ready")
    return found["status"], found["observedGeneration"]


def test_each_live_edit_reaches_the_driver_which_goes_on(acted: Acted) -> None:
    sim = acted.sim
    acted.comes_to(DriverState.RUNNING, 1)
    assert ready(sim) == ("True", 1)
    acted.log.grow("lines", 3)
    for generation, (path, edit) in enumerate(LIVE.items(), start=2):
        assert acted.report().counts["lines"] == 1  # whoever looks once an hour has not seen it yet
        sim.edit(**edit)
        sim.settle()
        acted.comes_to(DriverState.RUNNING, generation)
        assert ready(sim) == ("True", generation)
        edits = [one["message"] for one in acted.said() if one.get("kind") == "spec"]
        assert edits[-1] == f"generation {generation}: {path} changed"
    until(lambda: acted.report().counts["lines"] == 3, PATIENCE_SECONDS, acted.child)
    assert incarnation_in(sim.driver()) == 1
    assert acted.report().incarnation == 1
    assert not {"page", "stateQueries"} & {one.get("event") for one in acted.said()}


def test_what_spark_or_the_apps_code_refuses_ends_no_driver(acted: Acted) -> None:
    sim = acted.sim
    acted.comes_to(DriverState.RUNNING, 1)
    out = {"name": "out", "sendTo": {"from": "made", "stream": "copied"}}
    for generation, (step, path, words) in enumerate(REFUSED, start=2):
        sim.edit(operators=[{"name": "made", **step}, out])
        sim.settle()
        assert sim.says("Accepted") == ("Unknown", "AwaitingDriver")

        def judged(number: int = generation) -> bool:
            verdict = acted.report().verdict
            return verdict is not None and verdict.generation == number

        until(judged, PATIENCE_SECONDS, acted.child)
        sim.settle()
        accepted = sim.condition("Accepted")
        assert accepted["status"] == "False"
        assert accepted["message"].startswith(f"{path}: ")
        assert words in accepted["message"]
        assert ready(sim) == ("True", 1)
    assert incarnation_in(sim.driver()) == 1
    assert acted.report().incarnation == 1
    sim.edit(operators=[{"name": "made", "filter": {"from": "lines", "where": "text > ''"}}, out])
    sim.settle()
    until(lambda: acted.report().verdict.generation == len(REFUSED) + 2, PATIENCE_SECONDS, acted.child)
    sim.settle()
    assert sim.says("Accepted")[0] == "True"
    acted.replace()
    acted.comes_to(DriverState.RUNNING, len(REFUSED) + 2)


def test_rows_that_wait_for_a_side_input_degrade_the_app_in_the_words_of_a_run(
    sim: OperatorSim, tmp_path: Path
) -> None:
    with acting(sim, tmp_path, looking_up()) as acted:
        acted.log.create("codes", 1)
        write(acted.log, TopicPartition("codes", 0), batch([(b"a", b'{"text": "a", "code": 1}', 0)]))
        write(acted.log, LINES, batch([(b"a", b'{"text": "a"}', 0)]))

        def awaits() -> bool:
            sim.settle()
            return sim.says("Degraded") == ("True", "AwaitingSideInput")

        until(awaits, PATIENCE_SECONDS, acted.child)
        message = sim.condition("Degraded")["message"]
        assert message.startswith("spec.tables[0].sideInputs[0]: waiting: no version of codes has ended yet")
        (line,) = (fact["message"] for fact in acted.said() if fact.get("event") == "waiting")
        assert message.endswith(line)
        write(acted.log, TopicPartition("codes", 0), batch([(None, None, 0)]))
        until(lambda: not awaits(), PATIENCE_SECONDS, acted.child)
        assert sim.says("Degraded") == ("False", "Healthy")


@pytest.mark.long
def test_a_raised_nonce_has_the_next_driver_begin_without_state_and_an_edit_that_restarts_keeps_it(
    sim: OperatorSim, tmp_path: Path
) -> None:
    with acting(sim, tmp_path, counting()) as acted:
        acted.comes_to(DriverState.RUNNING, 1)
        acted.count("a", 1)
        acted.count("a", 2)
        first = acted.report().run_id

        sim.edit(restartNonce=1)
        sim.settle()
        acted.replace()
        acted.comes_to(DriverState.RUNNING, 2)
        acted.count("a", 3)
        assert acted.report().run_id == first

        sim.edit(resetNonce=1)
        sim.settle()
        acted.replace()
        acted.comes_to(DriverState.RUNNING, 3)
        acted.count("a", 1)
        assert acted.report().run_id != first
        assert acted.report().incarnation == 3


def test_the_generation_that_runs_is_the_one_that_the_driver_goes_by(sim: OperatorSim) -> None:
    sim.apply(copying())
    sim.settle()
    sim.begin()
    sim.report(generation=1)
    sim.settle()
    sim.edit(batch={"rows": 7})
    sim.settle()
    assert ready(sim) == ("True", 1)
    assert sim.says("Progressing") == ("True", "SpecChanged")
    sim.report(generation=2)
    sim.settle()
    assert ready(sim) == ("True", 2)
    assert sim.says("Progressing") == ("False", "Stable")


def test_a_driver_with_a_token_of_a_secret_answers_other_services_too(
    sim: OperatorSim, tmp_path: Path
) -> None:
    secrets = f"/api/v1/namespaces/{sim.namespace}/secrets"
    sim.server.ask(
        "POST", secrets, {"metadata": {"name": "app-state"}, "stringData": {"token": "of-the-app"}}
    )
    reference = {"secretKeyRef": {"name": "app-state", "key": "token"}}
    app, port = counting(), free_port()
    app["spec"]["stateQueries"] = {"enabled": True}
    app["spec"]["env"] = [{"name": "STREAMAPP_STATE_TOKEN", "valueFrom": reference}]
    with acting(sim, tmp_path, app, metrics_port=port) as acted:
        acted.comes_to(DriverState.RUNNING, 1)
        acted.count("a", 1)
        url = f"http://127.0.0.1:{port}/state/totals?key=a"
        assert got(url)[0] == 401
        status, _, text = got(url, Host="app-state.shop", Authorization="Bearer of-the-app")
        assert (status, [row["key"] for row in json.loads(text)["rows"]]) == (200, ["a"])
        assert "of-the-app" not in acted.child.said()


@pytest.mark.long
def test_a_driver_reports_how_busy_it_is_and_autoscaling_reads_it(sim: OperatorSim, tmp_path: Path) -> None:
    app = copying()
    app["spec"]["autoscale"] = {"max": 4, "targetUtilization": 60}
    with acting(sim, tmp_path, app) as acted:
        acted.comes_to(DriverState.RUNNING, 1)
        assert sim.reported().progress.utilization is None
        until(lambda: sim.reported().progress.utilization == 0, PATIENCE_SECONDS)
        sim.settle()
        assert sim.status()["autoscale"]["message"].startswith("utilization 0 %, target 60 %")


def test_a_driver_has_a_page_and_answers_queries_on_loopback_if_its_resource_says_so(
    sim: OperatorSim, tmp_path: Path
) -> None:
    app = copying()
    app["spec"] |= {"page": {"enabled": True}, "stateQueries": {"enabled": True}}
    with acting(sim, tmp_path, app) as acted:
        acted.comes_to(DriverState.RUNNING, 1)
        (page,) = [one["url"] for one in acted.said() if one.get("event") == "page"]
        snapshot = json.loads(got(page + "data")[2])
        assert [row["name"] for row in snapshot["streams"]] == ["copied", "lines"]
        assert snapshot["showValues"] is False
        (state,) = [one["url"] for one in acted.said() if one.get("event") == "stateQueries"]
        assert json.loads(got(state)[2]) == {"tables": []}
        for url in (page, state):
            with pytest.raises(ConnectionRefusedError):  # which one that listens everywhere would answer
                got(url.replace("127.0.0.1", "127.0.0.2"))
        sim.edit(page={"enabled": False})
        sim.settle()
        acted.replace()
        acted.comes_to(DriverState.RUNNING, 2)
        (state,) = [one["url"] for one in acted.said() if one.get("event") == "stateQueries"]
        assert got(state.replace("/state/", "/page/"))[0] == 404
        assert [one for one in acted.said() if one.get("event") == "page"] == []
