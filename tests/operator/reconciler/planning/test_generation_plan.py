"""Which run and which layout a plan goes on from: what lies with the state is right, ours may say more."""

from dataclasses import replace
from typing import Any

from streamapp.author.proposal import PlanningInputs, propose
from streamapp.protocol.accepted_app import AcceptedApp
from streamapp.protocol.driver_report import DriverState, Report
from streamapp.protocol.wanted_state import WantedState
from streamapp.spec.resource.app import StreamApp
from streamapp.tasks.layouts.layout import Layout
from streamapp_operator.reconciler.facts.facts import (
    AppFacts,
    ClusterFacts,
    DesiredModel,
    Facts,
    NewestGeneration,
    PublishedRun,
)
from streamapp_operator.reconciler.partition_counts.lookup_results import KnownCounts
from streamapp_operator.reconciler.planning.generation_plan import layout_basis, plan_generation, run_of
from streamapp_operator.reconciler.planning.model_update import ModelUpdate, model_update
from tests.harness.operator.golden_objects import manifest, parsed

UID = "5b1c"


def app(reset: int = 0) -> StreamApp:
    found = parsed(manifest())
    return found.model_copy(update={"spec": found.spec.model_copy(update={"reset_nonce": reset})})


def facts(**known: Any) -> Facts:
    return Facts(
        AppFacts(manifest(), NewestGeneration(3, app())),
        0.0,
        PublishedRun(**known),
        cluster=ClusterFacts(counts={3: KnownCounts({"views": 8, "users": 8})}),
    )


def layout(run: str, views: int = 8, before: Layout | None = None) -> Layout:
    tasks = propose(app(), PlanningInputs({"views": views, "users": 8}, before, run, 1.0)).assignment
    assert tasks is not None
    return tasks.layout


def desired(kept: Layout, reset: int = 0, *, was_reset: bool = False) -> DesiredModel:
    known = facts(report=Report(DriverState.RUNNING, layout=kept))
    made = model_update(known, AcceptedApp(app(), 3, UID), plan_generation(known, app(), 3), replace_all=True)
    assert isinstance(made, ModelUpdate)
    return DesiredModel(replace(made.wanted, layout=kept), "", "", reset, 1, was_reset)


def test_a_first_run_has_a_name_that_anybody_can_work_out() -> None:
    assert layout_basis(facts(), app()) == (None, run_of(UID, 0))


def test_what_a_driver_found_beside_the_state_is_gone_on_from() -> None:
    kept = layout("old-run")
    assert layout_basis(facts(report=Report(DriverState.RUNNING, layout=kept)), app()) == (kept, "old-run")


def test_a_growth_that_the_driver_has_not_taken_up_yet_is_not_forgotten() -> None:
    kept = layout("run")
    grown = layout("run", 16, kept)
    known = facts(report=Report(DriverState.RUNNING, layout=kept), desired=desired(grown))
    assert layout_basis(known, app()) == (grown, "run")


def test_where_ours_contradicts_the_state_the_state_is_right() -> None:
    kept, ours = layout("run"), layout("another-run")
    known = facts(report=Report(DriverState.STARTING, layout=kept), desired=desired(ours))
    assert layout_basis(known, app()) == (kept, "run")


def test_a_raised_nonce_begins_another_run() -> None:
    kept = layout(run_of(UID, 0))
    known = facts(report=Report(DriverState.RUNNING, layout=kept), desired=desired(kept))
    assert layout_basis(known, app(reset=1)) == (None, run_of(UID, 1))


def test_after_a_reset_a_driver_from_before_it_is_not_believed() -> None:
    ours = layout(run_of(UID, 1))
    known = facts(
        report=Report(DriverState.RUNNING, layout=layout(run_of(UID, 0))),
        desired=desired(ours, reset=1, was_reset=True),
    )
    assert layout_basis(known, app(reset=1)) == (ours, run_of(UID, 1))


def test_a_model_is_of_one_version_more_than_any_that_a_driver_has_seen() -> None:
    known = facts(report=Report(DriverState.RUNNING, layout=layout("run"), model_version=7))
    made = model_update(known, AcceptedApp(app(), 3, UID), plan_generation(known, app(), 3), replace_all=True)
    assert isinstance(made, ModelUpdate)
    assert isinstance(made.wanted, WantedState)
    assert made.wanted.model is not None
    assert made.wanted.model.version == 8
