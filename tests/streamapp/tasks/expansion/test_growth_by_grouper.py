import pytest

from streamapp.spec.reasons import Reason
from streamapp.tasks.groupers.grouper import BY_PARTITION, BY_STREAM_PARTITION, SINGLE_TASK, Grouper
from streamapp.tasks.layouts.split import KeyMovement
from streamapp.tasks.partition import Partition
from tests.harness.core.task_forming import formed, owner, refused, shown

JOINED = [["clicks", "views"]]


def test_a_new_partition_goes_to_the_task_that_held_its_keys() -> None:
    grown = formed({"views": 4}, formed({"views": 2}))
    assert shown(grown) == {"Partition 0": "views#0 views#2", "Partition 1": "views#1 views#3"}


def test_by_stream_partition_tasks_stay_those_of_the_first_partitions() -> None:
    grown = formed({"s.v": 4}, formed({"s.v": 2}, grouper=BY_STREAM_PARTITION), grouper=BY_STREAM_PARTITION)
    assert shown(grown) == {
        "SystemStreamPartition [s, v, 0]": "s.v#0 s.v#2",
        "SystemStreamPartition [s, v, 1]": "s.v#1 s.v#3",
    }


def test_several_growths_are_laid_onto_the_first_count() -> None:
    app = formed({"views": 2})
    for count in (4, 8, 24):
        app = formed({"views": count}, app)
    assert [owner(app, "views", index) for index in range(24)] == ["Partition 0", "Partition 1"] * 12


def test_one_of_two_joined_streams_grows_and_keys_still_meet() -> None:
    first = formed({"clicks": 3, "views": 3}, copartition_groups=JOINED)
    grown = formed({"clicks": 3, "views": 6}, first, copartition_groups=JOINED)
    assert shown(grown)["Partition 1"] == "clicks#1 views#1 views#4"
    assert len(grown.tasks) == 3


def test_a_new_stream_joined_with_a_folded_one_is_folded_like_it() -> None:
    grown = formed({"views": 8}, formed({"views": 4}))
    joined = formed({"clicks": 8, "views": 8}, grown, copartition_groups=JOINED)
    assert shown(joined)["Partition 1"] == "clicks#1 clicks#5 views#1 views#5"
    assert len(joined.tasks) == 4


def test_a_new_stream_that_is_joined_with_nothing_gets_tasks_of_its_own() -> None:
    grown = formed({"views": 4}, formed({"views": 2}))
    assert shown(formed({"clicks": 4, "views": 4}, grown)) == {
        "Partition 0": "clicks#0 views#0 views#2",
        "Partition 1": "clicks#1 views#1 views#3",
        "Partition 2": "clicks#2",
        "Partition 3": "clicks#3",
    }


def test_a_new_stream_that_cannot_be_folded_like_what_it_is_joined_with_is_refused() -> None:
    grown = formed({"views": 8}, formed({"views": 4}))
    for count in (2, 6):
        refusal = refused({"clicks": count, "views": 8}, grown, copartition_groups=JOINED)
        assert refusal.reason is Reason.JOIN_PARTITION_MISMATCH
        assert refusal.path == "clicks"
        assert "multiple of 4" in refusal.hint


def test_streams_that_are_joined_from_the_start_must_agree() -> None:
    refusal = refused({"clicks": 2, "views": 4}, copartition_groups=JOINED)
    assert refusal.reason is Reason.JOIN_PARTITION_MISMATCH
    assert "clicks" in str(refusal)
    assert "views" in str(refusal)


def test_joined_streams_whose_keys_would_be_with_different_tasks_are_refused() -> None:
    refusal = refused({"clicks": 2, "views": 2}, grouper=BY_STREAM_PARTITION, copartition_groups=JOINED)
    assert refusal.reason is Reason.JOIN_PARTITION_MISMATCH


def test_tasks_left_without_keyed_input_are_dropped() -> None:
    first = formed({"clicks": 4, "rates": 1, "views": 2}, broadcast=["rates"])
    left = formed({"rates": 1, "views": 2}, first, broadcast=["rates"])
    assert shown(left) == {"Partition 0": "rates#0 views#0", "Partition 1": "rates#0 views#1"}


def test_a_removed_stream_that_returns_finds_its_state() -> None:
    first = formed({"clicks": 2, "views": 2})
    without = formed({"clicks": 2}, first)
    back = formed({"clicks": 2, "views": 4}, without)
    assert shown(back)["Partition 0"] == "clicks#0 views#0 views#2"
    assert [split.stream for split in back.grown] == ["views"]


def test_a_removed_stream_that_returns_smaller_is_refused() -> None:
    without = formed({"clicks": 2}, formed({"clicks": 2, "views": 4}))
    assert refused({"clicks": 2, "views": 2}, without).reason is Reason.EXPANSION_SHRINKS


def test_a_count_below_the_one_seen_last_is_refused_even_if_it_is_the_first_one() -> None:
    grown = formed({"views": 8}, formed({"views": 4}))
    refusal = refused({"views": 4}, grown)
    assert refusal.reason is Reason.EXPANSION_SHRINKS
    assert refusal.path == "views"


def test_a_count_that_is_no_multiple_is_refused_and_a_count_that_would_do_is_named() -> None:
    refusal = refused({"views": 6}, formed({"views": 4}))
    assert refusal.reason is Reason.EXPANSION_NOT_MULTIPLE
    assert "8 partitions" in refusal.hint


def test_after_a_refusal_the_next_growth_starts_from_the_model_in_force() -> None:
    first = formed({"views": 4})
    refused({"views": 6}, first)
    assert formed({"views": 8}, first) == formed({"views": 8}, formed({"views": 4}))


def test_a_multiple_of_the_first_count_only_is_taken_and_marked() -> None:
    twice = formed({"views": 12}, formed({"views": 8}, formed({"views": 4}), now=1.0), now=2.0)
    assert owner(twice, "views", 9) == "Partition 1"
    assert [(split.before, split.after, split.seen_at, split.parting) for split in twice.layout.splits] == [
        (4, 8, 1.0, KeyMovement.EXACT),
        (8, 12, 2.0, KeyMovement.MIXED),
    ]
    assert not twice.grown[0].keeps_order


@pytest.mark.parametrize("grouper", [BY_PARTITION, BY_STREAM_PARTITION, SINGLE_TASK])
def test_the_same_streams_give_the_same_tasks_again(grouper: Grouper) -> None:
    app = formed({"clicks": 3, "views": 4}, grouper=grouper)
    again = formed({"views": 4, "clicks": 3}, app, grouper=grouper)
    assert again == app


def test_a_single_task_can_take_any_growth_but_no_shrink() -> None:
    first = formed({"views": 4}, grouper=SINGLE_TASK)
    grown = formed({"views": 5}, first, grouper=SINGLE_TASK)
    assert len(grown.partitions("Task-0")) == 5
    assert refused({"views": 3}, grown, grouper=SINGLE_TASK).reason is Reason.EXPANSION_SHRINKS


def test_a_single_task_keeps_its_name_when_processors_are_named_otherwise() -> None:
    first = formed({"views": 2}, grouper=SINGLE_TASK, processors=("0",))
    assert list(formed({"views": 2}, first, grouper=SINGLE_TASK, processors=("9",)).tasks) == ["Task-0"]


def test_partitions_may_have_holes_which_count() -> None:
    first = formed({"views": [0, 2]})
    grown = formed({"views": 6}, first)
    assert shown(grown) == {
        "Partition 0": "views#0 views#3",
        "Partition 1": "views#1 views#4",
        "Partition 2": "views#2 views#5",
    }


def test_a_broadcast_stream_may_grow_or_shrink() -> None:
    first = formed({"rates": 3, "views": 1}, broadcast=["rates"])
    grown = formed({"rates": 5, "views": 1}, first, broadcast=["rates"])
    assert formed({"rates": 2, "views": 1}, grown, broadcast=["rates"]).broadcast == (
        Partition("rates", 0),
        Partition("rates", 1),
    )


def test_an_app_that_gets_state_later_starts_from_the_count_of_that_day() -> None:
    stateless = formed({"views": 6}, formed({"views": 4}, stateful=False), stateful=False)
    stateful = formed({"views": 6}, stateless)
    assert stateful.layout.streams["views"].initial == 6
    assert refused({"views": 8}, stateful).reason is Reason.EXPANSION_NOT_MULTIPLE


def test_state_that_is_put_away_and_taken_up_again_is_still_where_it_was() -> None:
    first = formed({"views": 2})
    without = formed({"views": 4}, first, stateful=False)
    assert len(without.tasks) == 4
    assert shown(formed({"views": 4}, without)) == {
        "Partition 0": "views#0 views#2",
        "Partition 1": "views#1 views#3",
    }
