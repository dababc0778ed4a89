"""The row of an app on the page of all apps, and its details."""

import json

import pytest

from streamapp_operator.app_overview.app_row import (
    MAX_MESSAGE,
    PHASE_ATTENTION,
    Attention,
    app_details,
    app_row,
)
from streamapp_operator.reconciler.facts.timestamps import parse_timestamp
from streamapp_operator.reconciler.status.app_condition import EXPECTED_STATUS, ConditionType
from streamapp_operator.reconciler.status.phase import Phase
from tests.harness.operator.overview_apps import CHANGED, condition, overview_app
from tests.harness.operator.small_apps import join

LATER = "2026-11-21T12:00:00Z"


def test_every_phase_and_every_condition_has_its_row_in_the_tables() -> None:
    assert set(PHASE_ATTENTION) == set(Phase)
    assert set(EXPECTED_STATUS) == set(ConditionType)


def test_a_running_app_of_which_nothing_is_the_matter_gives_no_reason() -> None:
    row = app_row(overview_app("one", "Running"), None)
    assert (row["attention"], row["ready"], row["reason"], row["message"]) == (
        Attention.RUNNING,
        "True",
        "",
        "",
    )
    assert (row["lag"], row["reportedAt"]) == (None, None)


@pytest.mark.parametrize(
    ("unexpected", "attention"),
    [
        (condition("Degraded", "True", "OutOfMemory", "killed"), Attention.WAITING),
        (condition("Stalled", "True", "PartitionMismatch", "8 and 16"), Attention.FAILED),
        (condition("Ready", "Unknown", "NoProgress", "no batch for a minute"), Attention.WAITING),
    ],
)
def test_a_running_app_with_an_unexpected_condition_wants_attention_and_says_why(
    unexpected: dict[str, str], attention: Attention
) -> None:
    row = app_row(overview_app("one", "Running", unexpected, reason=unexpected["reason"]), None)
    assert row["attention"] == attention
    assert (row["reason"], row["message"]) == (unexpected["reason"], unexpected["message"])


def test_of_several_conditions_the_one_that_the_status_names_is_the_reason() -> None:
    unexpected = (
        condition("Progressing", "True", "Launching", "a driver starts"),
        condition("Stalled", "True", "RestartsUsedUp", "it failed six times"),
    )
    row = app_row(overview_app("one", "Failed", *unexpected, reason="RestartsUsedUp"), None)
    assert row["reason"] == "RestartsUsedUp"


def test_an_app_that_is_done_or_suspended_rests_whatever_its_conditions_are() -> None:
    done = condition("Ready", "False", "Completed")
    for phase in ("Completed", "Suspended", "Suspending"):
        assert app_row(overview_app("one", phase, done), None)["attention"] == Attention.RESTING


def test_an_app_without_a_status_or_of_a_newer_operator_waits() -> None:
    new = join()
    new["metadata"] |= {"namespace": "shop", "uid": "one", "generation": 1}
    row = app_row(new, None)
    assert (row["phase"], row["attention"], row["changed"]) == ("Unknown", Attention.WAITING, "")
    assert app_details(new)["conditions"] == []
    assert app_row(overview_app("one", "Hibernating"), None)["attention"] == Attention.WAITING


def test_the_last_change_is_the_newest_transition() -> None:
    degraded = condition("Degraded", "True", "OutOfMemory", at=LATER)
    row = app_row(overview_app("one", "Running", degraded), None)
    assert (row["changed"], row["changedAt"]) == ("Degraded True: OutOfMemory", parse_timestamp(LATER))


def test_a_long_message_is_cut_in_the_row_and_whole_in_the_details() -> None:
    app = overview_app("one", "Rejected", condition("Stalled", "True", "SpecInvalid", "x" * 5_000))
    assert len(app_row(app, None)["message"]) == MAX_MESSAGE
    stalled = next(one for one in app_details(app)["conditions"] if one["type"] == "Stalled")
    assert len(stalled["message"]) == 5_000


def test_the_details_have_the_driver_and_the_commands_that_tell_more() -> None:
    app = overview_app("one", "Running", page={"enabled": True})
    details = app_details(app)
    assert ["driver", "one-driver-3"] in details["facts"]
    assert ["started at", CHANGED] in details["facts"]
    assert "streamapp page one --namespace shop" in details["commands"]
    assert (
        "streamapp page one --namespace shop" not in app_details(overview_app("one", "Running"))["commands"]
    )
    json.dumps(details, allow_nan=False)


def test_a_driver_that_has_ended_is_the_last_ending_and_no_driver() -> None:
    app = overview_app("one", "BackingOff")
    ending = {"incarnation": 3, "outcome": "failed", "reason": "OutOfMemory", "endedAt": CHANGED}
    app["status"]["driver"]["lastEnding"] = ending
    facts = dict(app_details(app)["facts"])
    assert "driver" not in facts
    assert facts["last ending"] == f"failed, OutOfMemory at {CHANGED}"
