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
    assert seen == [{Partition("views", 0): "first", Partition("views", 1): "rest"}] * 2  # asked twice
    assert shown(found) == {"new": "clicks#0", "first": "views#0", "rest": "views#1"}


V0, V1 = Partition("views", 0), Partition("views", 1)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({"a": [V0]}, "left out views#1"),
        ({"a": [V0, V1], "b": [V1]}, "gave views#1 to a and once more to b"),
        ({"a": [V0, V0, V1]}, "gave views#0 to a and once more to a"),
        ({"a": [V0, V1, Partition("views", 2)]}, "views#2, which it was not given"),
        ({"": [V0, V1]}, "named a task ''"),
        ({3: [V0, V1]}, "named a task 3"),
        ({"a" * 201: [V0, V1]}, "201 characters"),
        ({"a": 5}, "gave task a 5, which is no list of partitions"),
        ({"a": "views"}, "gave task a 'views', which is no list of partitions"),
        ({"a": [[], V0, V1]}, "TypeError"),
        ({"a": ["views#0"]}, "returned 'views#0', which it was not given"),
        (None, "returned None, which is no mapping of tasks to partitions"),
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


def test_what_it_raises_is_told_with_the_place_in_its_own_code() -> None:
    def fails(_previous: Mapping[Partition, str], _partitions: Sequence[Partition], /) -> Any:
        raise LookupError("no region for views")

    message = refused({"views": 2}, grouper=Grouper("own:bad", fails)).message
    assert "raised LookupError: no region for views (in fails of " in message
    assert f"{__name__}, line {fails.__code__.co_firstlineno + 1})" in message


def test_code_that_would_end_the_process_is_a_refusal() -> None:
    def leaves(_previous: Mapping[Partition, str], _partitions: Sequence[Partition], /) -> Any:
        raise SystemExit(3)

    assert "raised SystemExit: 3" in refused({"views": 2}, grouper=Grouper("own:bad", leaves)).message


def test_one_that_answers_otherwise_the_second_time_is_refused() -> None:
    names = iter("abcdef")

    def moody(_previous: Mapping[Partition, str], partitions: Sequence[Partition], /) -> Any:
        return {next(names): partitions}

    refusal = refused({"views": 2}, grouper=Grouper("own:moody", moody))
    assert refusal.reason is Reason.GROUPER_INVALID
    assert "another answer when it was called again" in refusal.message


def test_it_cannot_change_what_it_is_given() -> None:
    def takes_away(previous: Any, partitions: Any, /) -> Any:
        previous.clear()
        partitions.pop()

    refusal = refused({"views": 2}, grouper=Grouper("own:bad", takes_away))
    assert "raised AttributeError" in refusal.message
