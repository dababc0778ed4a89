"""Apps that cannot be, and edits that should not have been made."""

from streamapp_operator.reconciler.partition_counts.lookup_results import KnownCounts, SystemUnavailable
from tests.harness.operator.reconcile_stage import Stage
from tests.harness.operator.small_apps import join, two_joins


def test_a_join_of_eight_and_six_partitions_is_refused_and_nothing_is_launched(stage: Stage) -> None:
    stage.table.answer = KnownCounts({"views": 8, "users": 6, "enriched": None})
    stage.apply(join())
    stage.settle()
    assert stage.says("Accepted") == ("False", "JoinPartitionMismatch")
    assert stage.says("Planned") == ("False", "JoinPartitionMismatch")
    assert stage.says("Stalled") == ("True", "JoinPartitionMismatch")
    assert stage.status()["phase"] == "Rejected"
    assert stage.names("pods") == []
    assert stage.names("configmaps") == []


def test_every_failing_join_is_named_with_its_streams_counts_and_what_would_mend_it(stage: Stage) -> None:
    stage.table.answer = KnownCounts({"views": 8, "users": 6, "shops": 4, "enriched": None})
    stage.apply(two_joins())
    stage.settle()
    by_user, by_shop = sorted(stage.condition("Accepted")["message"].splitlines())
    assert by_user.startswith("spec.operators[0].joinTable: joinTable by-user ")
    assert "users has 6" in by_user
    assert by_shop.startswith("spec.operators[1].joinTable: joinTable by-shop ")
    assert "shops has 4" in by_shop
    assert "views has 8" in by_shop
    assert "give shops 8 partitions" in by_shop or "partitionBy before by-shop" in by_shop


def test_a_rejection_is_told_once_as_an_event(stage: Stage) -> None:
    stage.table.answer = KnownCounts({"views": 8, "users": 6, "enriched": None})
    stage.apply(join())
    for _ in range(3):
        stage.settle()
    (event,) = [one for one in stage.objects("events") if one["reason"] == "JoinPartitionMismatch"]
    assert (event["type"], event["count"]) == ("Warning", 1)


def test_a_stream_that_is_missing_is_looked_for_again_until_it_is_there(stage: Stage) -> None:
    stage.table.answer = KnownCounts({"views": 8, "users": None, "enriched": None})
    stage.apply(join())
    stage.settle()
    assert stage.says("Accepted") == ("False", "MissingStream")
    stage.table.answer = KnownCounts({"views": 8, "users": 8, "enriched": None})
    stage.settle()
    assert stage.says("Accepted") == ("True", "Accepted")
    assert len(stage.drivers()) == 1


def test_a_bad_edit_leaves_the_accepted_generation_running(stage: Stage) -> None:
    stage.bring_up(join())
    stage.edit(serviceAccountName="admin")
    stage.settle()
    assert stage.says("Accepted") == ("False", "NotAllowed")
    assert stage.condition("Accepted")["observedGeneration"] == 2
    assert stage.says("Stalled")[0] == "True"
    assert stage.says("Ready") == ("True", "Running")
    assert stage.condition("Ready")["observedGeneration"] == 1
    assert stage.status()["acceptedGeneration"] == 1
    assert stage.status()["observedGeneration"] == 2
    assert stage.driver()["metadata"]["name"] == "app-driver-1"


def test_a_bad_edit_does_not_stop_healing(stage: Stage) -> None:
    stage.bring_up(join())
    stage.edit(serviceAccountName="admin")
    stage.settle()
    stage.end(code=3)
    stage.settle()
    stage.pass_time(10)
    stage.settle()
    assert stage.driver()["metadata"]["name"] == "app-driver-2"
    assert stage.driver()["metadata"]["labels"]["streamapp.dev/generation"] == "1"


def test_an_edit_that_is_put_right_is_taken_up(stage: Stage) -> None:
    stage.bring_up(join())
    stage.edit(serviceAccountName="admin")
    stage.settle()
    stage.edit(serviceAccountName=None)
    stage.settle()
    assert stage.says("Accepted") == ("True", "Accepted")
    assert stage.says("Stalled")[0] == "False"
    assert stage.condition("Ready")["observedGeneration"] == 3


def test_all_that_is_wrong_is_told_at_once(stage: Stage) -> None:
    template = {"spec": {"hostNetwork": True, "containers": [{"name": "driver", "image": "other"}]}}
    stage.apply(join(serviceAccountName="admin", driver={"template": template}))
    stage.settle()
    message = stage.condition("Accepted")["message"]
    assert "spec.serviceAccountName" in message
    assert "spec.driver.template.spec.hostNetwork" in message
    assert "spec.driver.template.spec.containers[0].image" in message


def test_a_broker_that_is_away_is_told_and_asked_again(stage: Stage) -> None:
    stage.table.answer = SystemUnavailable("main", "no broker answers", 7.0)
    stage.apply(join())
    outcome = stage.settle()
    assert stage.says("Planned") == ("Unknown", "SystemUnavailable")
    assert stage.says("Accepted")[0] == "Unknown"
    assert stage.status()["phase"] == "Pending"
    assert outcome.seconds == 7.0
    stage.table.answer = KnownCounts({"views": 8, "users": 8, "enriched": None})
    stage.settle()
    assert len(stage.drivers()) == 1


def test_a_driver_comes_back_while_the_brokers_are_away(stage: Stage) -> None:
    stage.bring_up(join())
    stage.table.answer = SystemUnavailable("main", "no broker answers", 7.0)
    stage.end(code=3)
    stage.settle()
    stage.pass_time(10)
    stage.settle()
    assert stage.driver()["metadata"]["name"] == "app-driver-2"


def test_an_application_id_that_another_app_holds_is_refused(stage: Stage) -> None:
    stage.apply(join("first", applicationId="shop.views"))
    stage.settle("first")
    stage.apply(join("second", applicationId="shop.views"))
    stage.settle("second")
    assert stage.says("Accepted", "second") == ("False", "ApplicationIdInUse")
    assert f"{stage.namespace}/first" in stage.condition("Accepted", "second")["message"]
    assert stage.says("Accepted", "first") == ("True", "Accepted")


def test_a_field_that_is_tied_to_state_cannot_change(stage: Stage) -> None:
    stage.bring_up(join(state={"emptyDir": {}}))
    stage.edit(state={"emptyDir": None, "persistentVolumeClaim": {"size": "10Gi"}})
    stage.settle()
    assert stage.says("Accepted") == ("False", "ChangeRefused")
    assert "spec.state" in stage.condition("Accepted")["message"]
    assert stage.says("Ready") == ("True", "Running")


def test_kubectl_waits_for_an_app_to_be_ready(stage: Stage) -> None:
    stage.bring_up(join())
    done = stage.kubectl("wait", "-n", stage.namespace, "sapp/app", "--for=condition=Ready", "--timeout=5s")
    assert done.returncode == 0, done.stderr


def test_an_app_whose_inputs_all_go_to_every_task_is_refused_by_its_field(stage: Stage) -> None:
    stage.table.answer = KnownCounts({"views": 8, "users": 8, "enriched": None})
    stage.apply(join(broadcastInputs=["views", "users"]))
    stage.settle()
    assert stage.says("Accepted") == ("False", "NoTasks")
    assert stage.condition("Accepted")["message"].startswith(
        "spec.broadcastInputs: all inputs (users, views)"
    )
    assert stage.drivers() == []
