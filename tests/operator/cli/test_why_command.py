"""`streamapp why`: each situation of its table is made, and found."""

import json
from collections.abc import Callable
from dataclasses import replace
from importlib.metadata import entry_points
from typing import Any

import pytest
from click.testing import CliRunner, Result

from streamapp.cli.app_table.app_figures import RunFigures
from streamapp.protocol.driver_report import CandidateVerdict, DriverState, Progress, ReportedWarning
from streamapp.protocol.page_wait import Wait
from streamapp.spec.reasons import Reason
from streamapp_operator.cli.diagnosis.situation_facts import SituationFacts
from streamapp_operator.cli.diagnosis.situations import SITUATIONS, findings_of
from streamapp_operator.cli.why import why
from streamapp_operator.reconciler.objects.configuration_versions import CONFIGURATION_SECONDS
from streamapp_operator.reconciler.partition_counts.lookup_results import (
    KnownCounts,
    LookupEnded,
    PendingCounts,
    SystemUnavailable,
)
from streamapp_operator.reconciler.pause import PAUSE_ANNOTATION
from tests.harness.api_server.api_server import ApiServer
from tests.harness.api_server.forwarding_kubelet import ForwardingKubelet
from tests.harness.api_server.granted_rights import grant_apps, user
from tests.harness.api_server.played_node import played_node
from tests.harness.core.all_cases import all_cases
from tests.harness.engine.batch_results import batch
from tests.harness.engine.watched_pages import (
    BEGAN,
    WatchedRun,
    page_served,
    reports,
    running,
    slow_run,
    two_merged_streams,
)
from tests.harness.graphs.shop_apps import shop
from tests.harness.operator.operator_sim import ON_REAL_SERVER, ON_SERVED_MEMORY, OperatorSim
from tests.harness.operator.small_apps import join

LATER = 45.0
READY = {"type": "Ready", "status": "True", "reason": "Running", "message": ""}
LAG = 2**22  # more than a batch takes


def told(sim: OperatorSim, *words: str, name: str = "app", user: str = "admin") -> Result:
    return CliRunner().invoke(why, [name, *words, *sim.cluster_options(user)])


def launched(sim: OperatorSim, **spec: Any) -> str:
    """An app whose driver's pod is there and has not begun; the pod's name."""
    sim.apply(join(**spec))
    sim.settle()
    return str(sim.driver()["metadata"]["name"])


def waiting_container(sim: OperatorSim, pod: str, reason: str, message: str) -> None:
    container = {**sim._container(pod), "ready": False}
    container["state"] = {"waiting": {"reason": reason, "message": message}}
    sim._pod_status(pod, {"phase": "Pending", "containerStatuses": [container]})


def unschedulable(sim: OperatorSim, pod: str) -> None:
    condition = {
        "type": "PodScheduled",
        "status": "False",
        "reason": "Unschedulable",
        "message": "0/3 nodes are available: 3 Insufficient memory.",
    }
    sim._pod_status(pod, {"phase": "Pending", "conditions": [condition]})


def new_executor(sim: OperatorSim) -> str:
    """An executor whose pod has not begun; its name."""
    labels = {"streamapp.dev/app": "app", "streamapp.dev/role": "executor", "spark-exec-id": "1"}
    pod = {
        "metadata": {"name": "app-exec-1", "labels": labels},
        "spec": {"containers": [{"name": "spark-kubernetes-executor", "image": "x"}]},
    }
    sim.server.ask("POST", sim._path("pods", ""), pod)
    return "app-exec-1"


def no_operator(sim: OperatorSim) -> None:
    sim.apply(join())


def paused(sim: OperatorSim) -> None:
    sim.bring_up(join())
    app = join()
    app["metadata"]["annotations"] = {PAUSE_ANNOTATION: "true"}
    sim.apply(app)
    sim.settle()


def operator_behind(sim: OperatorSim) -> None:
    sim.bring_up(join())
    sim.edit(processors=3)


def plan_rejected(sim: OperatorSim) -> None:
    sim.table.answer = KnownCounts({"views": 8, "users": 6, "enriched": None})
    sim.apply(join())
    sim.settle()


def spec_rejected(sim: OperatorSim) -> None:
    sim.bring_up(join())
    sim.edit(serviceAccountName="admin")
    sim.settle()


def suspended(sim: OperatorSim) -> None:
    sim.apply(join(suspend=True))
    sim.settle()


def finished(sim: OperatorSim) -> None:
    sim.bring_up(join())
    sim.end(code=0)
    sim.settle()


def system_unavailable(sim: OperatorSim) -> None:
    sim.table.answer = SystemUnavailable("main", "no broker answers", 7.0)
    sim.apply(join())
    sim.settle()


def lookup_ended(sim: OperatorSim) -> None:
    sim.table.answer = LookupEnded("main", "it took more than 128 MiB of memory", 7.0)
    sim.apply(join())
    sim.settle()


def counts_awaited(sim: OperatorSim) -> None:
    sim.table.answer = PendingCounts()
    sim.apply(join())
    sim.reconcile()
    sim.reconcile()


def edit_under_review(sim: OperatorSim) -> None:
    launched(sim)
    sim.begin()
    sim.report(generation=1, verdict=CandidateVerdict(1))
    sim.settle()
    few = {"name": "few", "filter": {"from": "views", "where": "true"}}
    sim.edit(operators=[*join()["spec"]["operators"], few])
    sim.settle()


def image_not_pulled(sim: OperatorSim) -> None:
    waiting_container(sim, launched(sim), "ImagePullBackOff", "runtime:9 is not there")
    sim.settle()


def driver_unschedulable(sim: OperatorSim) -> None:
    unschedulable(sim, launched(sim))
    sim.settle()


def driver_cannot_start(sim: OperatorSim) -> None:
    waiting_container(sim, launched(sim), "CreateContainerConfigError", 'secret "shop" not found')
    sim.settle()


def names_taken(sim: OperatorSim) -> None:
    sim.bring_up(join())
    sim.server.ask("DELETE", f"/apis/streamapp.dev/v1alpha1/namespaces/{sim.namespace}/streamapps/app")
    sim.apply(join())
    sim.settle()


def volume_not_mounted(sim: OperatorSim) -> None:
    event = {
        "metadata": {"name": "mount"},
        "involvedObject": {"kind": "Pod", "namespace": sim.namespace, "name": launched(sim)},
        "type": "Warning",
        "reason": "FailedMount",
        "message": 'configmap "shop-code" not found',
    }
    sim.server.ask("POST", sim._path("events", ""), event)


def driver_refused_app(sim: OperatorSim) -> None:
    sim.bring_up(join())
    ending = {
        "outcome": "config",
        "reason": "UserCodeFailed",
        "path": "spec.streams[0]",
        "message": "offset 7",
    }
    sim.end(code=1, message=json.dumps(ending))
    sim.settle()


def driver_out_of_memory(sim: OperatorSim) -> None:
    name = launched(sim)
    sim.begin()
    sim.end(code=137)
    ended = sim.pod(name)["status"]["containerStatuses"][0]
    ended["state"]["terminated"] |= {"reason": "OOMKilled"}
    sim._pod_status(name, {"containerStatuses": [ended]})
    sim.settle()


def restarts_exhausted(sim: OperatorSim) -> None:
    launched(sim, restartPolicy={"backoff": "0s", "maxRestarts": 1})
    for _ in range(2):
        sim.begin()
        sim.fail_driver(60)


def driver_crashes(sim: OperatorSim) -> None:
    launched(sim)
    sim.begin()
    sim.end(code=3, message="no route to the broker")
    sim.settle()


def no_progress(sim: OperatorSim) -> None:
    sim.bring_up(join())
    sim.pass_time(LATER)
    sim.silence()
    sim.settle(warms_up=False)  # else its successor replaces it at once


def executor_out_of_memory(sim: OperatorSim) -> None:
    sim.bring_up(join())
    name = sim.executor(1)
    sim.end(name, code=137, message="OOMKilled")
    sim.settle()


def executor_unschedulable(sim: OperatorSim) -> None:
    launched(sim)
    sim.begin()
    unschedulable(sim, new_executor(sim))
    sim.report(DriverState.WAITING, binding={})
    sim.settle()


def executor_cannot_start(sim: OperatorSim) -> None:
    launched(sim)
    sim.begin()
    waiting_container(sim, new_executor(sim), "ErrImagePull", "runtime:9 is not there")
    sim.report(DriverState.WAITING, binding={})
    sim.settle()


def executors_missing(sim: OperatorSim) -> None:
    launched(sim)
    sim.begin()
    sim.report(DriverState.WAITING, binding={})
    sim.settle()


def standby_missing(sim: OperatorSim) -> None:
    sim.bring_up(join(driver={"standby": True}))
    sim.end("app-driver-2", code=1, message="no room for its heap")
    sim.settle()


def growth_refused(sim: OperatorSim) -> None:
    sim.bring_up(join())
    sim.report(counts={"views": 12, "users": 8})
    sim.settle()


def growth_under_way(sim: OperatorSim) -> None:
    sim.bring_up(join(onPartitionChange="restart"))
    sim.report(counts={"views": 16, "users": 8})
    sim.settle()


def side_input_awaited(sim: OperatorSim) -> None:
    sim.bring_up(join())
    warning = ReportedWarning(Reason.AWAITING_SIDE_INPUT, "spec.tables[0]", "120 rows wait for users")
    sim.report(warnings=(warning,))
    sim.settle()


def input_unavailable(sim: OperatorSim) -> None:
    sim.bring_up(join())
    warning = ReportedWarning(Reason.INPUT_UNAVAILABLE, "spec.systems", "the system shop does not answer")
    sim.report(warnings=(warning,))
    sim.settle()


def transaction_open(sim: OperatorSim) -> None:
    sim.bring_up(join())
    warning = ReportedWarning(Reason.TRANSACTION_OPEN, "spec.streams", "views#3 from offset 117 on")
    sim.report(warnings=(warning,))
    sim.settle()


def partition_not_read(sim: OperatorSim) -> None:
    sim.bring_up(join())
    warning = ReportedWarning(Reason.PARTITION_NOT_READ, "spec.streams", "views#3 has not been read")
    sim.report(warnings=(warning,))
    sim.settle()


def tasks_moved(sim: OperatorSim) -> None:
    sim.bring_up(join(processors=2))
    sim.report(moved={"Partition 1": "processor-0"})
    sim.settle()


def restoring(sim: OperatorSim) -> None:
    sim.bring_up(join())
    sim.report(DriverState.RESTORING, progress=Progress(restoring=3))
    sim.settle()


def starting(sim: OperatorSim) -> None:
    launched(sim)


def configuration_outdated(sim: OperatorSim) -> None:
    code = {"metadata": {"name": "shop"}, "data": {"shop.py": "A = 1"}}
    sim.server.ask("POST", sim._path("configmaps", ""), code)
    sim.bring_up(join(code={"configMap": "shop"}))
    change = {"data": {"shop.py": "A = 2"}}
    sim.server.ask("PATCH", sim._path("configmaps", "shop"), change, "application/merge-patch+json")
    sim.pass_time(CONFIGURATION_SECONDS + 1)
    sim.settle()


def behind(sim: OperatorSim) -> None:
    sim.bring_up(join())
    sim.report(progress=Progress(lag=LAG))
    sim.settle()


def bring_up_watched(
    sim: OperatorSim, run: WatchedRun, progress: Progress | None = None, **spec: Any
) -> None:
    """An app whose driver's page shows this run: its kubelet is played, and the page is a real one."""
    assert isinstance(sim.server, ApiServer)
    node = f"node-of-{sim.namespace}"
    kubelet = sim.closing.enter_context(ForwardingKubelet(sim.server))
    sim.closing.enter_context(played_node(sim.server, node, kubelet.port))
    url = sim.closing.enter_context(page_served(run.recorder))
    sim.apply(join(page={"enabled": True}, **spec))
    sim.settle()
    sim.begin(node=node)
    sim.report(progress=progress or Progress())
    sim.settle()
    kubelet.ports["app-driver-1"] = int(url.split(":")[2].split("/", maxsplit=1)[0])


def driver_waits(sim: OperatorSim) -> None:
    run = WatchedRun()
    run.recorder.runs(running(shop(3)))
    run.batches(batch(), count=1)
    run.recorder.step_started("waits for system main: unavailable: broker-1 does not answer", None)
    bring_up_watched(sim, run)


def stuck_watermark(sim: OperatorSim) -> None:
    run = WatchedRun()
    run.recorder.runs(running(two_merged_streams()))
    at = int(BEGAN * 1000)
    run.batches(batch(watermarks={"views": at - 720_000, "orders": at}), count=1)
    bring_up_watched(sim, run)


def slow_task(sim: OperatorSim, **spec: Any) -> None:
    run, app = WatchedRun(), running(shop(3))
    run.recorder.runs(app)
    run.batches(replace(batch(), reports=reports(app), task_lags={"Partition 2": LAG}), count=1)
    bring_up_watched(sim, run, Progress(lag=LAG), **spec)


def slow_remote_table(sim: OperatorSim) -> None:
    app = replace(running(shop(3)), lookups={"joined": ("far",)})
    bring_up_watched(sim, slow_run(app, steps=(("joined", 11.0),), counted=[("remoteAsked", "far", 500)]))


def slow_code(sim: OperatorSim) -> None:
    app = replace(running(shop(3)), own_code=frozenset({"scored"}))
    bring_up_watched(sim, slow_run(app, steps=(("scored", 9.0),)), Progress(lag=LAG))


def slow_quota(sim: OperatorSim) -> None:
    bring_up_watched(sim, slow_run(running(shop(3)), steps=(("quota of kafka", 9.0), ("read", 9.5))))


def slow_expressions(sim: OperatorSim) -> None:
    bring_up_watched(
        sim, slow_run(replace(running(shop(3)), evaluated=frozenset({"few"})), steps=(("few", 9.0),))
    )


def autoscale_bounded(sim: OperatorSim) -> None:
    sim.bring_up(join(processors=2, autoscale={"max": 2, "targetLag": 1_000}))
    sim.report(progress=Progress(lag=LAG))
    sim.settle()


SCENES: dict[str, tuple[Callable[[OperatorSim], None], str]] = {
    "no-operator": (no_operator, "no status"),
    "paused": (paused, PAUSE_ANNOTATION),
    "operator-behind": (operator_behind, "generation 2, and the operator has seen 1"),
    "plan-rejected": (plan_rejected, "views"),
    "spec-rejected": (spec_rejected, "spec.serviceAccountName"),
    "suspended": (suspended, ""),
    "finished": (finished, ""),
    "system-unavailable": (system_unavailable, "no broker answers"),
    "lookup-ended": (lookup_ended, "128 MiB"),
    "counts-awaited": (counts_awaited, ""),
    "edit-under-review": (edit_under_review, ""),
    "image-not-pulled": (image_not_pulled, "app-driver-1: ImagePullBackOff: runtime:9 is not there"),
    "driver-unschedulable": (driver_unschedulable, "app-driver-1: Unschedulable: 0/3 nodes"),
    "driver-cannot-start": (driver_cannot_start, 'secret "shop" not found'),
    "names-taken": (names_taken, "Service app-driver"),
    "volume-not-mounted": (volume_not_mounted, 'FailedMount: configmap "shop-code" not found'),
    "driver-refused-app": (driver_refused_app, "UserCodeFailed: spec.streams[0]: offset 7"),
    "driver-out-of-memory": (driver_out_of_memory, "OOMKilled"),
    "restarts-exhausted": (restarts_exhausted, "driver 2 ended"),
    "driver-crashes": (driver_crashes, "no route to the broker; 1 failures in a row"),
    "no-progress": (no_progress, "has made no progress since"),
    "executor-unschedulable": (executor_unschedulable, "app-exec-1: Unschedulable: 0/3 nodes"),
    "executor-cannot-start": (executor_cannot_start, "app-exec-1: ErrImagePull"),
    "executors-missing": (executors_missing, "0 of 2 executors are there"),
    "standby-missing": (standby_missing, "exit code 1: no room for its heap"),
    "growth-refused": (growth_refused, "its 12 partitions are no multiple of the 8"),
    "growth-under-way": (growth_under_way, "views grew from 8 to 16 partitions"),
    "side-input-awaited": (side_input_awaited, "120 rows wait for users"),
    "input-unavailable": (input_unavailable, "the system shop does not answer"),
    "transaction-open": (transaction_open, "views#3 from offset 117 on"),
    "partition-not-read": (partition_not_read, "views#3 has not been read"),
    "restoring": (restoring, "3 tasks"),
    "starting": (starting, ""),
    "configuration-outdated": (configuration_outdated, "ConfigMap shop"),
    "executor-out-of-memory": (executor_out_of_memory, "app-exec-1"),
    "tasks-moved": (tasks_moved, "Partition 1 to processor-0"),
    "driver-waits": (driver_waits, "broker-1 does not answer"),
    "stuck-watermark": (stuck_watermark, "views holds back the watermark of both, out"),
    "slow-task": (slow_task, "task Partition 2, one of 4, has 100 %"),
    "slow-quota": (slow_quota, "to wait for quotas of the brokers of kafka takes 75 %"),
    "slow-remote-table": (slow_remote_table, "joined takes 92 % of each batch, which takes 12.0 s"),
    "slow-code": (slow_code, "the app's own code in scored takes 75 %"),
    "slow-expressions": (slow_expressions, "the expressions of few, which Spark evaluates, take"),
    "autoscale-bounded": (autoscale_bounded, "4,194,304 records"),
    "behind": (behind, "4,194,304 records"),
}
"""By situation: how it comes about, and what its detail has."""
OF_PAGES = frozenset(
    {
        "driver-waits",
        "slow-code",
        "slow-expressions",
        "slow-quota",
        "slow-remote-table",
        "slow-task",
        "stuck-watermark",
    }
)
"""Those that the driver's page shows, which the API server forwards."""


def test_each_situation_has_a_scene_and_each_scene_a_situation() -> None:
    assert list(SCENES) == [situation.name for situation in SITUATIONS]


def test_the_next_commands_of_streamapp_are_there() -> None:
    commands = [situation.next_command.split() for situation in SITUATIONS]
    verbs = {words[1] for words in commands if words[0] == "streamapp"}
    assert verbs <= {entry.name for entry in entry_points(group="streamapp.commands")}
    assert {words[0] for words in commands} == {"streamapp", "kubectl"}


@ON_SERVED_MEMORY
@pytest.mark.parametrize("situation", [name for name in SCENES if name not in OF_PAGES])
def test_a_situation_is_found_and_is_the_first_matter(sim: OperatorSim, situation: str) -> None:
    assert_is_first_matter(sim, situation)


@ON_REAL_SERVER
@pytest.mark.parametrize("situation", sorted(OF_PAGES))
def test_a_situation_that_the_page_shows_is_found(sim: OperatorSim, situation: str) -> None:
    assert_is_first_matter(sim, situation)


def assert_is_first_matter(sim: OperatorSim, situation: str) -> None:
    scene, detail = SCENES[situation]
    scene(sim)
    result = told(sim, "-o", "json")
    assert result.exit_code == 1, result.output
    findings = json.loads(result.output)["findings"]
    assert findings[0]["situation"] == situation, findings
    assert detail in findings[0]["detail"]
    assert "{" not in findings[0]["nextCommand"].replace('{"spec":{"suspend":false}}', "")
    assert [finding["situation"] for finding in findings[1:]] == [], findings


@ON_SERVED_MEMORY
def test_an_app_that_runs_has_nothing_the_matter(sim: OperatorSim) -> None:
    sim.bring_up(join())
    result = told(sim)
    assert (result.exit_code, result.output) == (0, "nothing is the matter\n")
    assert json.loads(told(sim, "-o", "json").output) == {"findings": [], "notRead": []}


@ON_REAL_SERVER
def test_the_text_has_the_sentence_the_detail_and_the_next_command(sim: OperatorSim) -> None:
    driver_unschedulable(sim)
    result = told(sim)
    assert result.exit_code == 1
    assert result.output.splitlines() == [
        "1. No node takes the driver's pod. Free resources, add a node, or lower spec.driver.resources.",
        "   app-driver-1: Unschedulable: 0/3 nodes are available: 3 Insufficient memory.",
        f"   Next: kubectl describe pod app-driver-1 -n {sim.namespace}",
    ]


@ON_SERVED_MEMORY
def test_the_log_of_the_driver_that_failed_is_named_also_where_the_next_one_is_there(
    sim: OperatorSim,
) -> None:
    driver_crashes(sim)
    (finding,) = json.loads(told(sim, "-o", "json").output)["findings"]
    assert finding["nextCommand"] == f"streamapp logs app -n {sim.namespace} --tail 100"
    sim.pass_time(60)
    sim.settle()
    (finding,) = json.loads(told(sim, "-o", "json").output)["findings"]
    assert finding["situation"] == "driver-crashes"
    assert finding["nextCommand"] == f"streamapp logs app -n {sim.namespace} --previous --tail 100"


@ON_SERVED_MEMORY
def test_what_is_no_consequence_comes_after_the_cause(sim: OperatorSim) -> None:
    spec_rejected(sim)
    sim.report(progress=Progress(lag=LAG))
    sim.settle()
    findings = json.loads(told(sim, "-o", "json").output)["findings"]
    assert [finding["situation"] for finding in findings] == ["spec-rejected", "behind"]


def test_the_reason_in_the_status_comes_first_and_each_reason_once() -> None:
    conditions = [
        READY,
        {"type": "Degraded", "status": "True", "reason": "TransactionOpen", "message": "views#3"},
        {"type": "Progressing", "status": "True", "reason": "SpecChanged", "message": "spec.batch"},
        {"type": "Accepted", "status": "False", "reason": "OutsideAllowList", "message": "spec.image"},
        {"type": "Stalled", "status": "True", "reason": "OutsideAllowList", "message": "spec.image"},
        {"type": "Planned", "status": "Unknown", "reason": "NotAccepted", "message": ""},
    ]
    app = {"metadata": {"name": "app", "namespace": "shop"}, "spec": {}}
    orders = {}
    for reason in ("OutsideAllowList", "TransactionOpen", "SpecChanged"):
        status = {"acceptedGeneration": 1, "reason": reason, "conditions": conditions}
        orders[reason] = [
            finding.situation for finding in findings_of(SituationFacts(app | {"status": status}))
        ]
    assert orders == {
        "OutsideAllowList": ["spec-rejected", "transaction-open", "Progressing=True"],
        "TransactionOpen": ["transaction-open", "spec-rejected", "Progressing=True"],
        "SpecChanged": ["Progressing=True", "spec-rejected", "transaction-open"],
    }


@ON_REAL_SERVER
def test_the_lag_that_follows_from_a_slow_task_is_part_of_it_and_more_processors_are_not_advised(
    sim: OperatorSim,
) -> None:
    slow_task(sim, processors=2, autoscale={"max": 2, "targetLag": 1_000})
    assert sim.app()["status"]["autoscale"]["boundedBy"] == "max"
    (finding,) = json.loads(told(sim, "-o", "json").output)["findings"]
    assert finding["situation"] == "slow-task"
    assert "about 4,194,304 records are there and not yet read" in finding["detail"]
    assert finding["nextCommand"] == f"streamapp top app -n {sim.namespace}"


def test_what_a_page_of_a_later_version_tells_of_is_something_that_the_driver_waits_for() -> None:
    app = {
        "metadata": {"name": "app", "namespace": "shop"},
        "spec": {},
        "status": {"acceptedGeneration": 1, "conditions": [READY]},
    }
    wait = Wait("slow-node", "the node of processor-1 is slow")
    figures = RunFigures("app", "running", 1, None, None, 0, None, 0.0, (), (), (), (wait,))
    (finding,) = findings_of(SituationFacts(app, run=figures))
    assert (finding.situation, finding.detail) == ("driver-waits", "the node of processor-1 is slow")


@ON_SERVED_MEMORY
def test_a_condition_that_no_situation_explains_is_there_with_the_meaning_of_its_reason(
    sim: OperatorSim,
) -> None:
    sim.bring_up(join())
    sim.report(warnings=(ReportedWarning("OfALaterVersion", "spec.a", "something new"),))
    sim.settle()
    (finding,) = json.loads(told(sim, "-o", "json").output)["findings"]
    assert finding["situation"] == "Degraded=True"
    assert "something new" in finding["detail"]


@ON_REAL_SERVER
def test_what_may_not_be_read_is_left_out_and_named(sim: OperatorSim) -> None:
    sim.bring_up(join())
    grant_apps(sim.server, sim.namespace, user("nobody"), "get")
    result = told(sim, user="nobody")
    assert result.exit_code == 0
    assert 'not read: pods: pods is forbidden: User "nobody"' in result.output


@ON_REAL_SERVER
def test_an_app_that_is_not_there_is_named(sim: OperatorSim) -> None:
    sim.apply(join())
    with all_cases() as case:
        for name in ("nobody", "", "app/status", "../configmaps/app-report", "App"):
            with case(name):
                result = told(sim, name=name)
                assert result.exit_code == 1
                assert f'there is no StreamApp "{name}" in namespace {sim.namespace}' in result.output
