"""What a history keeps of a spec, and what a rollback makes of it."""

import json
from typing import Any

import pytest

from streamapp.spec.resource.app import Spec, StreamApp
from streamapp.spec.spec_revision import (
    OPERATED_FIELDS,
    changed_fields,
    revised_app,
    revision_data,
    rolled_back,
)
from tests.harness.core.sample_resource import Data, changed, everything

OPERATED: dict[str, Any] = {
    "processors": 7,
    "suspend": True,
    "restartNonce": 3,
    "resetNonce": 4,
    "revisionHistoryLimit": 2,
}


def app(data: Data) -> StreamApp:
    return StreamApp.model_validate_json(json.dumps(data), by_name=False)


def test_every_field_by_which_an_app_is_operated_has_a_case_here() -> None:
    assert sorted(OPERATED) == sorted(str(Spec.model_fields[name].alias) for name in OPERATED_FIELDS)


@pytest.mark.parametrize(("field", "value"), OPERATED.items())
def test_a_field_by_which_an_app_is_operated_is_no_part_of_its_history(field: str, value: Any) -> None:
    before, after = app(everything()), app(changed(f"spec.{field}", value))
    assert before != after
    assert revised_app(before) == revised_app(after)
    assert revision_data(before) == revision_data(after)
    assert changed_fields(before, after) == ()


def test_labels_are_no_part_of_it() -> None:
    assert revised_app(app(everything())) == revised_app(app(changed("metadata.labels", {"team": "shop"})))


def test_a_revision_is_read_as_the_app_that_it_is_of() -> None:
    before = app(everything())
    data = revision_data(before)
    read = StreamApp.model_validate_json(
        json.dumps(
            {**data, "metadata": {"name": before.metadata.name, "namespace": before.metadata.namespace}}
        ),
        by_name=False,
    )
    assert read == revised_app(before)


def test_changes_are_named_by_their_path_within_the_spec() -> None:
    after = app(changed("spec.streams[0].columns", "user STRING"))
    assert changed_fields(app(everything()), after) == ("streams[views].columns",)


def test_a_rollback_has_the_earlier_spec_and_the_present_operation() -> None:
    current = {"batch": {"rows": 5}, "monitor": {"enabled": False}, **OPERATED}
    assert rolled_back(current, {"batch": {"rows": 4}}) == {"batch": {"rows": 4}, **OPERATED}


def test_a_rollback_takes_nothing_of_the_operation_from_a_revision() -> None:
    assert rolled_back({"processors": 3}, {"suspend": True, "processors": 9, "mode": "batch"}) == {
        "processors": 3,
        "mode": "batch",
    }
