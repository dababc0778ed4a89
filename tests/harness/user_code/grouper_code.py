"""Groupers and expansion algorithms as an app's team would write them, good ones and bad ones."""

from collections.abc import Mapping, Sequence

from streamapp.tasks.partition import Partition


def halves(_: Mapping[Partition, str], partitions: Sequence[Partition]) -> dict[str, list[Partition]]:
    return {
        "east": [one for one in partitions if one.index % 2 == 0],
        "west": [one for one in partitions if one.index % 2 == 1],
    }


class Halves:
    def __call__(
        self, previous: Mapping[Partition, str], partitions: Sequence[Partition]
    ) -> dict[str, list[Partition]]:
        return halves(previous, partitions)


def forgetful(_: Mapping[Partition, str], partitions: Sequence[Partition]) -> dict[str, list[Partition]]:
    return {"all": list(partitions[1:])}


def from_the_last(index: int, _: int, initial: int) -> int:
    return index if index < initial else initial - 1 - index % initial


def wild(index: int, current: int, _: int) -> int:
    return index if current < 3 else 99


def fewer_in_the_middle(
    _: Mapping[Partition, str], partitions: Sequence[Partition]
) -> dict[str, list[Partition]]:
    """Eight tasks, but four of them for sixteen partitions of the input."""
    tasks = 4 if sum(one.stream == "events" for one in partitions) == 16 else 8
    found: dict[str, list[Partition]] = {}
    for one in partitions:
        found.setdefault(f"task {one.index % tasks}", []).append(one)
    return found
