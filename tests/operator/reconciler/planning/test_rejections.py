"""Apps that cannot be, and edits that should not have been made."""

import time

import pytest

from streamapp.spec.reasons import Reason
from streamapp_operator.controller.client.manifest import AppKey
from streamapp_operator.controller.client.resource_kinds import STREAM_APP
from streamapp_operator.controller.watch.object_cache import ObjectCache
from streamapp_operator.reconciler.facts.gather import gather_facts
from streamapp_operator.reconciler.facts.reconcile_context import ReconcileContext
from streamapp_operator.reconciler.partition_counts.lookup_results import (
    KnownCounts,
    LookupEnded,
    SystemUnavailable,
)
from streamapp_operator.reconciler.planning.acceptance import accept_generation
from tests.harness.operator.operator_sim import ON_REAL_SERVER, OperatorSim
from tests.harness.operator.small_apps import join, two_joins


def test_a_join_of_eight_and_six_partitions_is_refused_and_nothing_is_launched(sim: OperatorSim) -> None:
    sim.table.answer = KnownCounts({"views": 8, "users": 6, "enriched": None})
    sim.apply(join())
    sim.settle()
    assert sim.says("Accepted") == ("False", "JoinPartitionMismatch")
    assert sim.says("Planned") == ("False", "JoinPartitionMismatch")
    assert sim.says("Stalled") == ("True", "JoinPartitionMismatch")
    assert sim.status()["phase"] == "Rejected"
    assert sim.names("pods") == []
    assert sim.names("configmaps") == []


def test_every_failing_join_is_named_with_its_streams_counts_and_what_would_mend_it(sim: OperatorSim) -> None:
    sim.table.answer = KnownCounts({"views": 8, "users": 6, "shops": 4, "enriched": None})
    sim.apply(two_joins())
    sim.settle()
    by_user, by_shop = sorted(sim.condition("Accepted")["message"].splitlines())
    assert by_user.startswith("spec.operators[0].joinTable: joinTable by-user ")
    assert "users has 6" in by_user
    assert by_shop.startswith("spec.operators[1].joinTable: joinTable by-shop ")
    assert "shops has 4" in by_shop
    assert "views has 8" in by_shop
    assert "give shops 8 partitions" in by_shop or "partitionBy before by-shop" in by_shop


def test_a_rejection_is_told_once_as_an_event(sim: OperatorSim) -> None:
    sim.table.answer = KnownCounts({"views": 8, "users": 6, "enriched": None})
    sim.apply(join())
    for _ in range(3):
        sim.settle()
    (event,) = [one for one in sim.objects("events") if one["reason"] == "JoinPartitionMismatch"]
    assert (event["type"], event["count"]) == ("Warning", 1)


def test_a_stream_that_is_missing_is_looked_for_again_until_it_is_there(sim: OperatorSim) -> None:
    sim.table.answer = KnownCounts({"views": 8, "users": None, "enriched": None})
    sim.apply(join())
    sim.settle()
    assert sim.says("Accepted") == ("False", "MissingStream")
    sim.table.answer = KnownCounts({"views": 8, "users": 8, "enriched": None})
    sim.settle()
    assert sim.says("Accepted") == ("True", "Accepted")
    assert len(sim.drivers()) == 1


def test_a_bad_edit_leaves_the_accepted_generation_running(sim: OperatorSim) -> None:
    sim.bring_up(join())
    sim.edit(serviceAccountName="admin")
    sim.settle()
    assert sim.says("Accepted") == ("False", "OutsideAllowList")
    assert sim.condition("Accepted")["observedGeneration"] == 2
    assert sim.says("Stalled")[0] == "True"
    assert sim.says("Ready") == ("True", "Running")
    assert sim.condition("Ready")["observedGeneration"] == 1
    assert sim.status()["acceptedGeneration"] == 1
    assert sim.status()["observedGeneration"] == 2
    assert sim.driver()["metadata"]["name"] == "app-driver-1"


def test_a_bad_edit_does_not_stop_healing(sim: OperatorSim) -> None:
    sim.bring_up(join())
    sim.edit(serviceAccountName="admin")
    sim.settle()
    sim.fail_driver(10)
    assert sim.driver()["metadata"]["name"] == "app-driver-2"
    assert sim.driver()["metadata"]["labels"]["streamapp.dev/generation"] == "1"


def test_an_edit_that_is_put_right_is_taken_up(sim: OperatorSim) -> None:
    sim.bring_up(join())
    sim.edit(serviceAccountName="admin")
    sim.settle()
    sim.edit(serviceAccountName=None)
    sim.settle()
    sim.report()
    sim.settle()
    assert sim.says("Accepted") == ("True", "Accepted")
    assert sim.says("Stalled")[0] == "False"
    assert sim.condition("Ready")["observedGeneration"] == 3


def test_all_that_is_wrong_is_told_at_once(sim: OperatorSim) -> None:
    template = {"spec": {"hostNetwork": True, "containers": [{"name": "driver", "image": "other"}]}}
    sim.apply(join(serviceAccountName="admin", driver={"template": template}))
    sim.settle()
    message = sim.condition("Accepted")["message"]
    assert "spec.serviceAccountName" in message
    assert "spec.driver.template.spec.hostNetwork" in message
    assert "spec.driver.template.spec.containers[0].image" in message


def test_a_broker_that_is_away_is_told_and_asked_again(sim: OperatorSim) -> None:
    sim.table.answer = SystemUnavailable("main", "no broker answers", 7.0)
    sim.apply(join())
    outcome = sim.settle()
    assert sim.says("Planned") == ("Unknown", "SystemUnavailable")
    assert sim.says("Accepted")[0] == "Unknown"
    assert sim.status()["phase"] == "Pending"
    assert outcome.seconds == 7.0
    sim.table.answer = KnownCounts({"views": 8, "users": 8, "enriched": None})
    sim.settle()
    assert len(sim.drivers()) == 1


def test_an_ended_lookup_is_a_condition_of_its_app_with_a_mend(sim: OperatorSim) -> None:
    sim.table.answer = LookupEnded("main", "it took more than 128 MiB of memory", 7.0)
    sim.apply(join())
    outcome = sim.settle()
    assert sim.says("Planned") == ("Unknown", "LookupEnded")
    message = sim.condition("Planned")["message"]
    assert "system main: it took more than 128 MiB of memory; correct its bootstrapServers" in message
    assert outcome.seconds == 7.0


def test_a_driver_comes_back_while_the_brokers_are_away(sim: OperatorSim) -> None:
    sim.bring_up(join())
    sim.table.answer = SystemUnavailable("main", "no broker answers", 7.0)
    sim.fail_driver(10)
    assert sim.driver()["metadata"]["name"] == "app-driver-2"


def test_an_application_id_that_another_app_holds_is_refused(sim: OperatorSim) -> None:
    sim.apply(join("first", applicationId="shop.views"))
    sim.settle("first")
    sim.apply(join("second", applicationId="shop.views"))
    sim.settle("second")
    assert sim.says("Accepted", "second") == ("False", "ApplicationIdInUse")
    assert f"{sim.namespace}/first" in sim.condition("Accepted", "second")["message"]
    assert sim.says("Accepted", "first") == ("True", "Accepted")


def test_an_application_id_is_not_taken_over_from_an_app_that_lives(sim: OperatorSim) -> None:
    sim.apply(join("first", applicationId="shop.views"))
    sim.settle("first")
    sim.apply(join("second", applicationId="shop.views", takeOver=True))
    sim.settle("second")
    assert sim.says("Accepted", "second") == ("False", "ApplicationIdInUse")
    assert "delete that app first" in sim.condition("Accepted", "second")["message"]
    sim.server.ask("DELETE", f"/apis/streamapp.dev/v1alpha1/namespaces/{sim.namespace}/streamapps/first")
    sim.settle("second")
    assert sim.says("Accepted", "second") == ("True", "Accepted")


@pytest.mark.usefixtures("process")
def test_an_application_id_is_taken_over_from_an_app_that_never_was_accepted(sim: OperatorSim) -> None:
    sim.apply(join("first", applicationId="shop.views", serviceAccountName="admin"))
    sim.settle("first")
    time.sleep(1.1)  # of two that were made within one second nobody knows the older
    sim.apply(join("second", applicationId="shop.views"))
    sim.settle("second")
    assert sim.says("Accepted", "second") == ("False", "ApplicationIdInUse")
    sim.edit("second", takeOver=True)
    sim.settle("second")
    assert sim.says("Accepted", "second") == ("True", "Accepted")


def test_an_application_id_of_another_namespace_is_refused(sim: OperatorSim) -> None:
    sim.apply(join("mine", applicationId="elsewhere.mine"))
    sim.settle("mine")
    assert sim.says("Accepted", "mine") == ("True", "Accepted"), "that namespace has no apps"
    cache = ObjectCache()
    for namespace in (sim.namespace, "elsewhere"):
        app = join("theirs", applicationId=f"{namespace}.theirs")
        app["metadata"] |= {"namespace": namespace, "uid": namespace, "resourceVersion": "1"}
        cache.put(STREAM_APP, app)
    context = ReconcileContext(sim.cluster, cache, lambda: sim.now, sim.table, sim.installation)
    for application_id, namespace in (("elsewhere.second", "elsewhere"), (f"{sim.namespace}.second", "")):
        name = f"app-{namespace or 'own'}"
        sim.apply(join(name, applicationId=application_id, takeOver=True))
        cache.put(STREAM_APP, sim.app(name))
        facts = sim.run(gather_facts(context, AppKey(sim.namespace, name), live=False))
        assert facts is not None
        assert facts.app.namespace_of_id == namespace
        acceptance = accept_generation(facts, sim.installation)
        reasons = [problem.reason for problem in acceptance.problems]
        assert reasons == ([Reason.NOT_ALLOWED] if namespace else [])


def test_a_field_that_is_tied_to_state_cannot_change(sim: OperatorSim) -> None:
    sim.bring_up(join(state={"emptyDir": {}}))
    sim.edit(state={"emptyDir": None, "persistentVolumeClaim": {"size": "10Gi"}})
    sim.settle()
    assert sim.says("Accepted") == ("False", "ChangeRefused")
    assert "spec.state" in sim.condition("Accepted")["message"]
    assert sim.says("Ready") == ("True", "Running")


@ON_REAL_SERVER
def test_kubectl_waits_for_an_app_to_be_ready(sim: OperatorSim) -> None:
    sim.bring_up(join())
    done = sim.kubectl("wait", "-n", sim.namespace, "sapp/app", "--for=condition=Ready", "--timeout=5s")
    assert done.returncode == 0, done.stderr


def test_an_app_whose_inputs_all_go_to_every_task_is_refused_by_its_field(sim: OperatorSim) -> None:
    sim.table.answer = KnownCounts({"views": 8, "users": 8, "enriched": None})
    sim.apply(join(broadcastInputs=["views", "users"]))
    sim.settle()
    assert sim.says("Accepted") == ("False", "NoTasks")
    assert sim.condition("Accepted")["message"].startswith("spec.broadcastInputs: all inputs (users, views)")
    assert sim.drivers() == []


def test_an_edit_that_gives_state_another_meaning_is_refused_and_the_driver_runs_on(sim: OperatorSim) -> None:
    def operators(aggregates: str) -> list[dict[str, object]]:
        return [
            {"name": "total", "aggregate": {"from": "views", "aggregates": aggregates}},
            {"name": "out", "sendTo": {"from": "total", "stream": "enriched"}},
        ]

    sim.bring_up(join(operators=operators("max(page) AS page")))
    sim.edit(operators=operators("min(page) AS page"))
    sim.settle()
    assert sim.says("Accepted") == ("False", "StateChanged")
    message = sim.condition("Accepted")["message"]
    assert message.startswith("spec.operators[0].aggregate: the state of total was written with another")
    assert "was max(page) and is min(page)" in message
    assert (sim.says("Ready"), sim.driver()["metadata"]["name"]) == (("True", "Running"), "app-driver-1")
    sim.edit(stateChanges="accept")
    sim.settle()
    assert sim.says("Accepted") == ("True", "Accepted")


def test_an_edit_whose_expressions_are_wrong_is_refused_and_the_driver_runs_on(sim: OperatorSim) -> None:
    sim.bring_up(join())
    sim.edit(
        operators=[
            {"name": "real", "filter": {"from": "views", "where": "pgae IS NOT NULL"}},
            {"name": "out", "sendTo": {"from": "real", "stream": "enriched"}},
        ]
    )
    sim.settle()
    assert sim.says("Accepted") == ("False", "InvalidSpec")
    message = sim.condition("Accepted")["message"]
    assert message.startswith('spec.operators[0].filter.where: no column "pgae"; did you mean "page"?')
    assert (sim.says("Ready"), sim.driver()["metadata"]["name"]) == (("True", "Running"), "app-driver-1")
