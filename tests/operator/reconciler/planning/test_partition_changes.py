"""Topics that grow, while the app runs and while it does not; and counts that cannot be."""

import pytest

from streamapp.protocol.driver_report import DriverState
from streamapp.tasks.partition import Partition
from streamapp_operator.reconciler.partition_counts.lookup_results import KnownCounts
from tests.harness.operator.reconcile_stage import Stage
from tests.harness.operator.simulated_cluster import incarnation_in
from tests.harness.operator.small_apps import join

GROWN = {"views": 16, "users": 8}


def grow(stage: Stage) -> None:
    stage.table.answer = KnownCounts({"views": 16, "users": 8, "enriched": 8})


def test_a_growth_is_taken_up_with_a_restart_after_a_moment(stage: Stage) -> None:
    stage.bring_up(join())
    stage.report(counts=GROWN)
    outcome = stage.settle()
    assert incarnation_in(stage.driver()) == 1
    assert stage.says("Progressing") == ("True", "PartitionsGrew")
    assert "views grew from 8 to 16 partitions" in stage.condition("Progressing")["message"]
    assert outcome.seconds == 5.0
    stage.pass_time(5)
    stage.settle()
    grow(stage)
    stage.remove("app-driver-1")
    stage.settle()
    assert incarnation_in(stage.driver()) == 2
    model = stage.model()
    assert len(model.tasks) == 8
    assert Partition("views", 11) in model.task("Partition 3").partitions
    assert stage.status()["driver"]["lastEnding"]["reason"] == "PartitionsGrew"


def test_a_growth_is_told_as_one_event(stage: Stage) -> None:
    stage.bring_up(join())
    stage.report(counts=GROWN)
    stage.settle()
    stage.settle()
    told = [one for one in stage.events() if one[1] == "PartitionsGrew"]
    assert told == [("Normal", "PartitionsGrew", "views grew from 8 to 16 partitions")]


def test_a_growth_may_be_taken_up_live(stage: Stage) -> None:
    stage.bring_up(join(onPartitionChange="live"))
    stage.report(counts=GROWN)
    stage.settle()
    assert incarnation_in(stage.driver()) == 1
    assert stage.model().version == 2
    assert Partition("views", 11) in stage.model().task("Partition 3").partitions


def test_a_second_growth_goes_on_from_the_first(stage: Stage) -> None:
    stage.bring_up(join(onPartitionChange="live"))
    stage.report(counts=GROWN)
    stage.settle()
    stage.report(counts={"views": 32, "users": 8})
    stage.settle()
    model = stage.model()
    assert len(model.tasks) == 8
    assert Partition("views", 27) in model.task("Partition 3").partitions
    splits = stage.wanted().layout
    assert splits is not None
    assert [(one.before, one.after) for one in splits.splits] == [(8, 16), (16, 32)]


@pytest.mark.parametrize(("views", "reason"), [(6, "ExpansionShrinks"), (12, "ExpansionNotMultiple")])
def test_a_count_that_would_tear_keys_from_their_tasks_is_refused_and_the_app_goes_on(
    stage: Stage, views: int, reason: str
) -> None:
    stage.bring_up(join())
    model = stage.model()
    stage.report(counts={"views": views, "users": 8})
    stage.settle()
    stage.pass_time(60)
    stage.settle()
    assert stage.says("Degraded") == ("True", reason)
    assert stage.says("Ready") == ("True", "Running")
    assert incarnation_in(stage.driver()) == 1
    assert stage.model() == model


def test_an_app_with_a_refused_count_comes_back_with_the_model_it_has(stage: Stage) -> None:
    stage.bring_up(join())
    model = stage.model()
    stage.table.answer = KnownCounts({"views": 12, "users": 8, "enriched": 8})
    stage.pass_time(60)
    stage.remove("app-driver-1")
    stage.settle()
    assert incarnation_in(stage.driver()) == 2
    assert stage.model() == model
    assert stage.says("Degraded") == ("True", "ExpansionNotMultiple")


def test_a_growth_while_suspended_is_taken_up_when_the_app_goes_on(stage: Stage) -> None:
    stage.bring_up(join())
    stage.edit(suspend=True)
    stage.settle()
    stage.remove("app-driver-1")
    stage.settle()
    grow(stage)
    stage.settle()
    assert stage.model().version == 1
    stage.edit(suspend=False)
    stage.settle()
    assert stage.model().version == 2
    assert len(stage.model().tasks) == 8


def test_a_growth_while_launching_is_taken_up_once_the_driver_tells_of_it(stage: Stage) -> None:
    stage.apply(join())
    stage.settle()
    stage.begin()
    grow(stage)
    stage.settle()
    assert stage.model().version == 1
    stage.report(counts=GROWN)
    stage.settle()
    stage.pass_time(5)
    stage.settle()
    stage.remove("app-driver-1")
    stage.settle()
    assert stage.model().version == 2


def test_a_growth_while_the_app_has_failed_is_taken_up_by_the_next_start(stage: Stage) -> None:
    stage.bring_up(join())
    stage.end(code=3)
    grow(stage)
    stage.settle()
    stage.pass_time(5)
    stage.settle()
    assert incarnation_in(stage.driver()) == 2
    assert stage.model().version == 2


def test_a_growth_amid_an_edit_leads_to_one_restart(stage: Stage) -> None:
    stage.bring_up(join())
    stage.report(counts=GROWN)
    stage.edit(restartNonce=1)
    grow(stage)
    stage.settle()
    stage.remove("app-driver-1")
    stage.settle()
    assert incarnation_in(stage.driver()) == 2
    assert stage.model().version == 2
    stage.begin()
    stage.report(counts=GROWN)
    stage.settle()
    stage.pass_time(60)
    stage.settle()
    assert incarnation_in(stage.driver()) == 2
    assert stage.says("Ready") == ("True", "Running")


def test_growth_is_left_alone_where_nobody_is_to_look_for_it(stage: Stage) -> None:
    stage.bring_up(join(monitor={"enabled": False}))
    stage.report(counts=GROWN)
    stage.settle()
    stage.pass_time(60)
    stage.settle()
    assert incarnation_in(stage.driver()) == 1
    assert stage.says("Progressing")[0] == "False"


def test_an_app_made_anew_finds_the_layout_that_lies_with_its_state(stage: Stage) -> None:
    stage.bring_up(join(onPartitionChange="live"))
    stage.report(counts=GROWN)
    stage.settle()
    kept = stage.wanted().layout
    stage.server.ask("DELETE", f"/apis/streamapp.dev/v1alpha1/namespaces/{stage.namespace}/streamapps/app")
    stage.collect_garbage()
    checkpoints = f"{stage.namespace}.app.checkpoint"
    stage.table.answer = KnownCounts({"views": 16, "users": 8, "enriched": 8, checkpoints: 1})
    stage.restart()
    stage.apply(join(onPartitionChange="live"))
    stage.settle()
    assert stage.says("Planned") == ("True", "PlannedByDriver")
    stage.begin()
    stage.report(counts=GROWN, layout=kept, model_version=1)
    stage.settle()
    model = stage.model()
    assert len(model.tasks) == 8
    assert model.version == 2
    assert kept is not None
    assert model.run_id == kept.run
    assert incarnation_in(stage.driver()) == 1
    stage.report(counts=GROWN)
    stage.settle()
    assert stage.says("Ready") == ("True", "Running")


def test_a_driver_whose_state_contradicts_the_model_is_given_another_one_without_a_restart(
    stage: Stage,
) -> None:
    stage.bring_up(join(onPartitionChange="live"))
    stage.report(counts=GROWN)
    stage.settle()
    kept = stage.wanted().layout
    stage.server.ask("DELETE", f"/apis/streamapp.dev/v1alpha1/namespaces/{stage.namespace}/streamapps/app")
    stage.collect_garbage()
    stage.table.answer = KnownCounts({"views": 8, "users": 8, "enriched": 8})  # of another cluster, say
    stage.restart()
    stage.apply(join())
    stage.settle()
    assert stage.model().version == 1
    stage.begin()
    grow(stage)
    stage.report(DriverState.STARTING, layout=kept, model_version=0, counts={}, binding={})
    stage.settle()
    assert incarnation_in(stage.driver()) == 1
    assert kept is not None
    assert stage.model().run_id == kept.run
    assert stage.model().version == 2
