"""Edits of an app are told field by field, each with what it does to what runs."""

import json
from typing import Any

import pytest

from streamapp.spec.resource.app import StreamApp
from streamapp.spec.resource.field_changes import Change, changes, paths_with_effect, strongest_effect
from streamapp.spec.resource.field_marks import Effect
from tests.harness.core.sample_resource import Data, at, changed, everything, without


def app(data: Data) -> StreamApp:
    return StreamApp.model_validate_json(json.dumps(data), by_name=False)


def edit(path: str, value: Any) -> tuple[Change, ...]:
    return changes(app(everything()), app(changed(path, value)))


def test_an_app_does_not_differ_from_itself() -> None:
    assert changes(app(everything()), app(everything())) == ()


def test_a_default_that_is_written_out_is_no_change() -> None:
    assert edit("spec.mode", "stream") == ()
    assert edit("spec.restartNonce", 0) == ()


@pytest.mark.parametrize(
    ("path", "value", "told", "effect"),
    [
        ("metadata.labels", {"team": "shop"}, "metadata.labels", Effect.NONE),
        ("spec.processors", 5, "spec.processors", Effect.LIVE),
        ("spec.restartNonce", 1, "spec.restartNonce", Effect.RESTART),
        ("spec.resetNonce", 1, "spec.resetNonce", Effect.REPLAN),
        ("spec.grouper", "single", "spec.grouper", Effect.REFUSED),
        ("spec.streams[0].columns", "user STRING", "spec.streams[views].columns", Effect.REPLAN),
        ("spec.streams[0].topic", "other", "spec.streams[views].topic", Effect.REFUSED),
        ("spec.tables[0].store", "lmdb", "spec.tables[users].store", Effect.REFUSED),
        ("spec.executor.startTimeout", "1m", "spec.executor.startTimeout", Effect.LIVE),
        ("spec.driver.sparkConf", {"a": "b"}, "spec.driver.sparkConf", Effect.RESTART),
        ("spec.state.reclaimPolicy", "Delete", "spec.state.reclaimPolicy", Effect.LIVE),
        (
            "spec.state.persistentVolumeClaim.size",
            "20Gi",
            "spec.state.persistentVolumeClaim.size",
            Effect.REFUSED,
        ),
    ],
)
def test_a_field_has_the_effect_of_its_mark_or_of_what_it_stands_in(
    path: str, value: Any, told: str, effect: Effect
) -> None:
    assert edit(path, value) == (Change(told, effect),)


def test_settings_have_the_effects_of_their_keys() -> None:
    key = "job.coordinator.monitor-partition-change"
    config = {**at(everything(), "spec.config"), key: "false"}
    assert edit("spec.config", config) == (Change(f"spec.config.{key}", Effect.LIVE),)


def test_an_entry_that_comes_or_goes_has_the_effect_of_its_list() -> None:
    more = changed("spec.operators[13]", {"name": "rest", "sendTo": {"from": "real", "stream": "enriched"}})
    assert changes(app(everything()), app(more)) == (Change("spec.operators[rest]", Effect.REPLAN),)
    assert changes(app(more), app(everything())) == (Change("spec.operators[rest]", Effect.REPLAN),)


def test_entries_in_another_order_change_nothing_that_runs() -> None:
    turned = changed("spec.streams", at(everything(), "spec.streams")[::-1])
    assert strongest_effect(changes(app(everything()), app(turned))) is Effect.NONE


def test_another_kind_of_volume_is_refused() -> None:
    other = changed("spec.state", {"emptyDir": {}})
    assert strongest_effect(changes(app(everything()), app(other))) is Effect.REFUSED


def test_several_changes_together_have_the_strongest_effect_and_name_who_has_it() -> None:
    other = changed("spec.processors", 9, changed("spec.restartNonce", 2, without("spec.operators[12]")))
    found = changes(app(everything()), app(other))
    assert strongest_effect(found) is Effect.REPLAN
    assert paths_with_effect(found, Effect.RESTART) == ("spec.operators[out]", "spec.restartNonce")
