from collections.abc import Collection, Mapping, Sequence
from typing import Any

import pytest

from streamapp.spec.reasons import Reason
from streamapp.tasks.groupers.grouper import Grouper
from streamapp.tasks.partition import Partition
from tests.harness.core.task_forming import formed, refused, shown


def first_apart(
    _previous: Mapping[Partition, str], partitions: Sequence[Partition], /
) -> Mapping[str, Collection[Partition]]:
    tasks: dict[str, set[Partition]] = {}
    for partition in partitions:
        tasks.setdefault("rest" if partition.index else "first", set()).add(partition)
    return tasks


APART = Grouper("shop.tasks:first_apart", first_apart)


def test_a_users_own_grouper_forms_the_tasks() -> None:
    assert shown(formed({"views": 3}, grouper=APART)) == {"first": "views#0", "rest": "views#1 views#2"}


def test_new_partitions_follow_their_keys_whatever_the_users_grouper_would_say() -> None:
    first = formed({"views": 3}, grouper=APART)
    assert shown(formed({"views": 6}, first, grouper=APART)) == {
        "first": "views#0 views#3",
        "rest": "views#1 views#2 views#4 views#5",
    }


def test_it_is_told_the_tasks_that_there_are_and_cannot_move_them() -> None:
    seen: list[dict[Partition, str]] = []

    def all_new(
        previous: Mapping[Partition, str], partitions: Sequence[Partition], /
    ) -> Mapping[str, Collection[Partition]]:
        seen.append(dict(previous))
        return {"new": partitions}

    first = formed({"views": 2}, grouper=APART)
    found = formed({"clicks": 1, "views": 2}, first, grouper=Grouper(APART.name, all_new))
    assert seen == [{Partition("views", 0): "first", Partition("views", 1): "rest"}]
    assert shown(found) == {"new": "clicks#0", "first": "views#0", "rest": "views#1"}


V0, V1 = Partition("views", 0), Partition("views", 1)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({"a": [V0]}, "left out views#1"),
        ({"a": [V0, V1], "b": [V1]}, "one partition to several tasks"),
        ({"a": [V0, V0, V1]}, "one partition to several tasks"),
        ({"a": [V0, V1, Partition("views", 2)]}, "views#2, which it was not given"),
        ({"": [V0, V1]}, "named a task ''"),
        ({3: [V0, V1]}, "named a task 3"),
        ({"a": 5}, "TypeError"),
        ({"a": [[], V0, V1]}, "TypeError"),
        (None, "AttributeError"),
    ],
)
def test_what_it_answers_is_checked(answer: Any, said: str) -> None:
    refusal = refused({"views": 2}, grouper=Grouper("own:bad", lambda _previous, _partitions: answer))
    assert refusal.reason is Reason.GROUPER_INVALID
    assert said in refusal.message


def test_a_grouper_that_nobody_loaded_is_refused() -> None:
    refusal = refused({"views": 2}, grouper=Grouper("own:absent"))
    assert refusal.reason is Reason.GROUPER_INVALID
    assert refusal.path == "own:absent"


def test_what_it_raises_is_a_refusal() -> None:
    refusal = refused(
        {"views": 2}, grouper=Grouper("own:bad", lambda previous, _partitions: {previous[V0]: []})
    )
    assert refusal.reason is Reason.GROUPER_INVALID
    assert "KeyError" in refusal.message
