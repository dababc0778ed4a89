"""Exceptions of the operator's own code: reported with their place, while the generation before goes on."""

from dataclasses import replace

from streamapp_operator.reconciler.decide import decide
from streamapp_operator.reconciler.facts.facts import AppFacts, ClusterFacts, Facts, PublishedRun
from streamapp_operator.reconciler.facts.generation_validation import newest_generation
from streamapp_operator.reconciler.installation import Installation
from streamapp_operator.reconciler.partition_counts.lookup_results import KnownCounts
from streamapp_operator.reconciler.planning.acceptance import accept_generation
from tests.harness.operator.golden_objects import INSTALLATION, manifest
from tests.harness.operator.operator_sim import OperatorSim
from tests.harness.operator.small_apps import join

WITHOUT_SIZES = Installation(image="streamapp-runtime:test", driver_requests={})
"""An installation that no file can say, on which the rules about sizes fail."""
PLACE = "streamapp_operator.reconciler.planning.acceptance_rules:"


def test_the_generation_before_goes_on_and_the_place_is_told(sim: OperatorSim) -> None:
    sim.bring_up(join())
    sim.installation = WITHOUT_SIZES
    sim.edit(restartNonce=1)
    sim.settle()
    assert sim.says("Accepted") == ("False", "InternalError")
    assert PLACE in sim.condition("Accepted")["message"]
    assert sim.condition("Accepted")["observedGeneration"] == sim.status()["observedGeneration"] == 2
    assert sim.says("Stalled") == ("True", "InternalError")
    assert sim.says("Ready") == ("True", "Running")
    assert sim.condition("Ready")["observedGeneration"] == 1
    (event,) = [
        message for type_, reason, message in sim.events() if (type_, reason) == ("Warning", "InternalError")
    ]
    assert PLACE in event


def test_a_driver_that_dies_meanwhile_comes_back_and_the_edit_is_taken_up_later(sim: OperatorSim) -> None:
    sim.bring_up(join())
    sim.installation = WITHOUT_SIZES
    sim.edit(restartNonce=1)
    sim.settle()
    sim.fail_driver(10)
    assert sim.driver()["metadata"]["name"] == "app-driver-2"
    assert sim.driver()["metadata"]["labels"]["streamapp.dev/generation"] == "1"
    sim.installation = INSTALLATION
    sim.settle()
    assert sim.says("Accepted") == ("True", "Accepted")
    assert sim.status()["acceptedGeneration"] == 2


def test_an_app_that_was_never_accepted_is_refused(sim: OperatorSim) -> None:
    sim.installation = WITHOUT_SIZES
    sim.apply(join())
    sim.settle()
    assert sim.says("Accepted") == ("False", "InternalError")
    assert sim.status()["phase"] == "Rejected"
    assert sim.names("pods") == []


def test_where_nothing_can_be_decided_the_status_says_so_and_nothing_is_written() -> None:
    app = manifest()
    newest = newest_generation(app)
    counts = KnownCounts({"views": 8, "users": 8, "enriched": None})
    facts = Facts(AppFacts(app, newest), 1_000.0, cluster=ClusterFacts(counts={newest.generation: counts}))
    accepted = accept_generation(facts, INSTALLATION).new_generation
    assert accepted is not None
    cluster = replace(facts.cluster, claims=({"kind": "nameless"},))
    decision = decide(replace(facts, run=PublishedRun((accepted,)), cluster=cluster), INSTALLATION)
    assert isinstance(decision.internal_error, KeyError)
    assert (decision.before, decision.after) == ((), ())
    assert decision.requeue_after == 30.0
    reasons = {one["type"]: (one["status"], one["reason"]) for one in decision.status["conditions"]}
    assert reasons == {"Accepted": ("False", "InternalError"), "Stalled": ("True", "InternalError")}
    assert decision.status["observedGeneration"] == newest.generation
    assert [event.reason for event in decision.events] == ["InternalError"]
