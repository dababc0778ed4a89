"""Groupers and expansion algorithms as an app's team would write them, good ones and bad ones."""

from collections.abc import Mapping, Sequence
from itertools import count
from threading import Event

from streamapp.placement.locations.location_providers import PodFacts
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


def remainder(index: int, _: int, initial: int) -> int:
    """For producers that place a key by its hash: what the product does by itself."""
    return index % initial


def always_99(_: int, __: int, ___: int) -> int:
    return 99


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


def raising(_: Mapping[Partition, str], __: Sequence[Partition]) -> dict[str, list[Partition]]:
    raise LookupError("no region is known")


def twice(_: Mapping[Partition, str], partitions: Sequence[Partition]) -> dict[str, list[Partition]]:
    return {"east": list(partitions), "west": list(partitions[:1])}


def listed(_: Mapping[Partition, str], partitions: Sequence[Partition]) -> list[Partition]:
    return list(partitions)


_calls = count()


def moody(_: Mapping[Partition, str], partitions: Sequence[Partition]) -> dict[str, list[Partition]]:
    return {f"call {next(_calls)}": list(partitions)}


def endless(_: Mapping[Partition, str], __: Sequence[Partition]) -> dict[str, list[Partition]]:
    Event().wait()
    return {}


def by_name(pod: PodFacts) -> str:
    """Executors of one rack, as their machines are named: rack-7-node-2 is in rack-7."""
    return "-".join((pod.node or pod.name).split("-")[:2])


def one_rack(_: PodFacts) -> str:
    return "rack-7"


def nowhere_yet(_: PodFacts) -> None:
    return None


def numbered_place(_: PodFacts) -> int:
    return 7


def unlabelled_place(pod: PodFacts) -> str:
    return pod.labels["rack"]


def long_place(_: PodFacts) -> str:
    return "r" * 201


def moody_place(_: PodFacts) -> str:
    return f"rack-{next(_calls)}"


def lingering(_: Mapping[Partition, str], partitions: Sequence[Partition]) -> dict[str, list[Partition]]:
    """Takes seconds for more than one partition."""
    if len(partitions) > 1:
        Event().wait(5)
    return {"all": list(partitions)}
