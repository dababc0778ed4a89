"""Topics that grow, while the app runs and while it does not; and counts that cannot be."""

import pytest

from streamapp.protocol.driver_report import DriverState
from streamapp.tasks.partition import Partition
from streamapp_operator.reconciler.partition_counts.lookup_results import KnownCounts
from tests.harness.operator.operator_sim import OperatorSim
from tests.harness.operator.simulated_cluster import incarnation_in
from tests.harness.operator.small_apps import join

GROWN = {"views": 16, "users": 8}


def grow(sim: OperatorSim) -> None:
    sim.table.answer = KnownCounts({"views": 16, "users": 8, "enriched": 8})


def test_a_growth_is_taken_up_with_a_restart_after_a_moment(sim: OperatorSim) -> None:
    sim.bring_up(join(onPartitionChange="restart"))
    sim.report(counts=GROWN)
    outcome = sim.settle()
    assert incarnation_in(sim.driver()) == 1
    assert sim.says("Progressing") == ("True", "PartitionsGrew")
    assert "views grew from 8 to 16 partitions" in sim.condition("Progressing")["message"]
    assert outcome.seconds == 5.0
    sim.pass_time(5)
    sim.settle()
    grow(sim)
    sim.remove("app-driver-1")
    sim.settle()
    assert incarnation_in(sim.driver()) == 2
    model = sim.model()
    assert len(model.tasks) == 8
    assert Partition("views", 11) in model.task("Partition 3").partitions
    assert sim.status()["driver"]["lastEnding"]["reason"] == "PartitionsGrew"


def test_a_growth_with_a_restart_is_told_as_one_event(sim: OperatorSim) -> None:
    sim.bring_up(join(onPartitionChange="restart"))
    sim.report(counts=GROWN)
    sim.settle()
    sim.settle()
    told = [one for one in sim.events() if one[1] == "PartitionsGrew"]
    assert told == [("Normal", "PartitionsGrew", "views grew from 8 to 16 partitions")]


def test_a_growth_is_taken_up_live_and_told_once(sim: OperatorSim) -> None:
    sim.bring_up(join())
    sim.report(counts=GROWN)
    sim.settle()
    sim.settle()
    told = [one for one in sim.events() if one[1] == "PartitionsGrew"]
    assert told == [("Normal", "PartitionsGrew", "views grew from 8 to 16 partitions")]
    assert incarnation_in(sim.driver()) == 1
    assert sim.model().version == 2
    assert Partition("views", 11) in sim.model().task("Partition 3").partitions


def test_a_second_growth_goes_on_from_the_first(sim: OperatorSim) -> None:
    sim.bring_up(join(onPartitionChange="live"))
    sim.report(counts=GROWN)
    sim.settle()
    sim.report(counts={"views": 32, "users": 8})
    sim.settle()
    model = sim.model()
    assert len(model.tasks) == 8
    assert Partition("views", 27) in model.task("Partition 3").partitions
    splits = sim.wanted().layout
    assert splits is not None
    assert [(one.before, one.after) for one in splits.splits] == [(8, 16), (16, 32)]


@pytest.mark.parametrize(("views", "reason"), [(6, "ExpansionShrinks"), (12, "ExpansionNotMultiple")])
def test_a_count_that_would_tear_keys_from_their_tasks_is_refused_and_the_app_goes_on(
    sim: OperatorSim, views: int, reason: str
) -> None:
    sim.bring_up(join())
    model = sim.model()
    sim.report(counts={"views": views, "users": 8})
    sim.settle()
    sim.pass_time(60)
    sim.settle()
    assert sim.says("Degraded") == ("True", reason)
    assert sim.says("Ready") == ("True", "Running")
    assert incarnation_in(sim.driver()) == 1
    assert sim.model() == model


def test_an_app_with_a_refused_count_comes_back_with_the_model_it_has(sim: OperatorSim) -> None:
    sim.bring_up(join())
    model = sim.model()
    sim.table.answer = KnownCounts({"views": 12, "users": 8, "enriched": 8})
    sim.pass_time(60)
    sim.remove("app-driver-1")
    sim.settle()
    assert incarnation_in(sim.driver()) == 2
    assert sim.model() == model
    assert sim.says("Degraded") == ("True", "ExpansionNotMultiple")


def test_a_growth_while_suspended_is_taken_up_when_the_app_goes_on(sim: OperatorSim) -> None:
    sim.bring_up(join())
    sim.edit(suspend=True)
    sim.settle()
    sim.remove("app-driver-1")
    sim.settle()
    grow(sim)
    sim.settle()
    assert sim.model().version == 1
    sim.edit(suspend=False)
    sim.settle()
    assert sim.model().version == 2
    assert len(sim.model().tasks) == 8


def test_a_growth_while_launching_is_taken_up_once_the_driver_tells_of_it(sim: OperatorSim) -> None:
    sim.apply(join(onPartitionChange="restart"))
    sim.settle()
    sim.begin()
    grow(sim)
    sim.settle()
    assert sim.model().version == 1
    sim.report(counts=GROWN)
    sim.settle()
    sim.pass_time(5)
    sim.settle()
    sim.remove("app-driver-1")
    sim.settle()
    assert sim.model().version == 2


def test_a_growth_while_the_app_has_failed_is_taken_up_by_the_next_start(sim: OperatorSim) -> None:
    sim.bring_up(join())
    sim.end(code=3)
    grow(sim)
    sim.settle()
    sim.pass_time(5)
    sim.settle()
    assert incarnation_in(sim.driver()) == 2
    assert sim.model().version == 2


def test_a_growth_amid_an_edit_leads_to_one_restart(sim: OperatorSim) -> None:
    sim.bring_up(join())
    sim.report(counts=GROWN)
    sim.edit(restartNonce=1)
    grow(sim)
    sim.settle()
    sim.remove("app-driver-1")
    sim.settle()
    assert incarnation_in(sim.driver()) == 2
    assert sim.model().version == 2
    sim.begin()
    sim.report(counts=GROWN)
    sim.settle()
    sim.pass_time(60)
    sim.settle()
    assert incarnation_in(sim.driver()) == 2
    assert sim.says("Ready") == ("True", "Running")


def test_growth_is_left_alone_where_nobody_is_to_look_for_it(sim: OperatorSim) -> None:
    sim.bring_up(join(monitor={"enabled": False}))
    sim.report(counts=GROWN)
    sim.settle()
    sim.pass_time(60)
    sim.settle()
    assert incarnation_in(sim.driver()) == 1
    assert sim.says("Progressing")[0] == "False"


def test_an_app_made_anew_finds_the_layout_that_lies_with_its_state(sim: OperatorSim) -> None:
    sim.bring_up(join(onPartitionChange="live"))
    sim.report(counts=GROWN)
    sim.settle()
    kept = sim.wanted().layout
    sim.server.ask("DELETE", f"/apis/streamapp.dev/v1alpha1/namespaces/{sim.namespace}/streamapps/app")
    sim.collect_garbage()
    checkpoints = f"{sim.namespace}.app.checkpoint"
    sim.table.answer = KnownCounts({"views": 16, "users": 8, "enriched": 8, checkpoints: 1})
    sim.restart()
    sim.apply(join(onPartitionChange="live"))
    sim.settle()
    assert sim.says("Planned") == ("True", "PlannedByDriver")
    sim.begin()
    sim.report(counts=GROWN, layout=kept, model_version=1)
    sim.settle()
    model = sim.model()
    assert len(model.tasks) == 8
    assert model.version == 2
    assert kept is not None
    assert model.run_id == kept.run
    assert incarnation_in(sim.driver()) == 1
    sim.report(counts=GROWN)
    sim.settle()
    assert sim.says("Ready") == ("True", "Running")


def test_a_driver_whose_state_contradicts_the_model_is_given_another_one_without_a_restart(
    sim: OperatorSim,
) -> None:
    sim.bring_up(join(onPartitionChange="live"))
    sim.report(counts=GROWN)
    sim.settle()
    kept = sim.wanted().layout
    sim.server.ask("DELETE", f"/apis/streamapp.dev/v1alpha1/namespaces/{sim.namespace}/streamapps/app")
    sim.collect_garbage()
    sim.table.answer = KnownCounts({"views": 8, "users": 8, "enriched": 8})  # of another cluster, say
    sim.restart()
    sim.apply(join())
    sim.settle()
    assert sim.model().version == 1
    sim.begin()
    grow(sim)
    sim.report(DriverState.STARTING, layout=kept, model_version=0, counts={}, binding={})
    sim.settle()
    assert incarnation_in(sim.driver()) == 1
    assert kept is not None
    assert sim.model().run_id == kept.run
    assert sim.model().version == 2


def test_clusters_are_asked_again_only_for_what_the_running_driver_does_not_read(sim: OperatorSim) -> None:
    sim.bring_up(join())
    sim.report(counts={"views": 8, "users": 8, "enriched": 8})
    sim.settle()
    asked_before = sim.table.asked
    streams = join()["spec"]["streams"]
    sim.edit(processors=3)
    sim.settle()
    assert sim.table.asked == asked_before
    sim.edit(streams=[*streams, {"name": "clicks", "system": "main", "columns": "user STRING"}])
    sim.settle()
    assert sim.table.asked > asked_before
