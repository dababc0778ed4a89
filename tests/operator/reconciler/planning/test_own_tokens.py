"""An app whose own function gives tokens: the operator cannot ask its brokers, and its driver plans."""

from streamapp.tasks.layouts.layout import Layout
from streamapp_operator.reconciler.partition_counts.lookup_results import KnownCounts
from tests.harness.operator.operator_sim import OperatorSim
from tests.harness.operator.simulated_cluster import incarnation_in
from tests.harness.operator.small_apps import join

LAYOUT = Layout("run-1", "partition")


def test_the_driver_is_started_to_count_partitions_and_the_operator_plans_with_them(sim: OperatorSim) -> None:
    sim.table.answer = KnownCounts({}, frozenset({"views", "users", "enriched", "app.checkpoint"}))
    sim.apply(join())
    sim.settle()
    assert sim.says("Accepted") == ("True", "Accepted")
    assert sim.says("Planned") == ("True", "PlannedByDriver")
    assert "only it has the app's own token function" in sim.condition("Planned")["message"]
    assert incarnation_in(sim.driver()) == 1
    assert sim.wanted().model is None
    sim.begin()
    sim.report(counts={"views": 8, "users": 8, "enriched": 8}, layout=LAYOUT, run_id="run-1", model_version=1)
    sim.settle()
    assert incarnation_in(sim.driver()) == 1
    assert len(sim.model().tasks) == 8
    assert sim.says("Planned") == ("True", "Planned")
