from streamapp.tasks.expansion.planned_counts import planned_counts
from tests.harness.core.task_forming import formed

JOINED = [["clicks", "views"]]


def test_before_the_first_run_every_stream_counts_as_it_is() -> None:
    assert planned_counts(None, {"views": 4}, JOINED) == {"views": 4}


def test_a_stream_with_state_counts_as_when_its_state_began() -> None:
    layout = formed({"clicks": 4, "views": 8}, formed({"clicks": 4, "views": 4})).layout
    assert planned_counts(layout, {"clicks": 4, "views": 8}, JOINED) == {"clicks": 4, "views": 4}


def test_a_stream_that_grew_just_now_counts_as_before_so_that_a_join_still_agrees() -> None:
    layout = formed({"clicks": 4, "views": 4}).layout
    assert planned_counts(layout, {"clicks": 4, "views": 8}, JOINED) == {"clicks": 4, "views": 4}


def test_a_new_stream_joined_with_a_grown_one_counts_as_that_did() -> None:
    layout = formed({"views": 8}, formed({"views": 4})).layout
    assert planned_counts(layout, {"clicks": 12, "views": 8}, JOINED) == {"clicks": 4, "views": 4}


def test_a_new_stream_whose_count_is_no_growth_of_the_first_one_counts_as_it_is() -> None:
    layout = formed({"views": 8}, formed({"views": 4})).layout
    assert planned_counts(layout, {"clicks": 6, "views": 8}, JOINED) == {"clicks": 6, "views": 4}


def test_a_new_stream_joined_with_one_that_has_not_grown_counts_as_it_is() -> None:
    layout = formed({"views": 4}).layout
    assert planned_counts(layout, {"clicks": 8, "views": 4}, JOINED) == {"clicks": 8, "views": 4}


def test_streams_without_state_intermediate_ones_too_count_as_they_are() -> None:
    layout = formed({"views": 4}, stateful=False).layout
    assert planned_counts(layout, {"by-user": 16, "views": 8}, []) == {"by-user": 16, "views": 8}


def test_a_grown_stream_with_no_state_behind_it_counts_as_it_is() -> None:
    layout = formed({"clicks": 4, "views": 4}).layout
    assert planned_counts(layout, {"clicks": 8, "views": 5}, [], without_state=["views"]) == {
        "clicks": 4,
        "views": 5,
    }
