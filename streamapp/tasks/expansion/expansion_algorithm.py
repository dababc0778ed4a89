"""Where the keys of a partition were when the app first had state.

An expansion algorithm maps a partition's index to the index that held its keys at the initial count. It may
be a user's own, so nothing that it returns or raises is trusted: its contract is checked on every call.
"""

from collections.abc import Sequence
from typing import Protocol

from streamapp.spec.reasons import Reason
from streamapp.spec.resource.config_keys import ALGORITHM
from streamapp.tasks.refusal import Refusal


class ExpansionAlgorithm(Protocol):
    """Tells which initial partition held the keys of a partition; leaves initial indexes alone."""

    def __call__(self, index: int, current_count: int, initial_count: int, /) -> int:
        """The initial index, from 0 to `initial_count` - 1."""


def modulo(index: int, _current_count: int, initial_count: int, /) -> int:
    """The algorithm for producers that place a key by its hash modulo the count of the day."""
    return index % initial_count


def initial_index(
    index: int, current_count: int, initial_count: int, algorithm: ExpansionAlgorithm = modulo
) -> int | Refusal:
    """The initial index of one partition, or why there is none."""
    found = initial_indexes("", current_count, initial_count, algorithm, [index])
    return found if isinstance(found, Refusal) else found[0]


def initial_indexes(
    stream: str,
    current_count: int,
    initial_count: int,
    algorithm: ExpansionAlgorithm = modulo,
    indexes: Sequence[int] | None = None,
) -> list[int] | Refusal:
    """The initial index of each partition of a stream, or why its keys cannot stay with their tasks."""
    refusal = _illegal(stream, current_count, initial_count, algorithm)
    if refusal:
        return refusal
    asked = range(current_count) if indexes is None else indexes
    if algorithm is modulo:  # which keeps the contract by what it is
        return [index % initial_count for index in asked]
    found: list[int] = []
    for index in asked:
        answer = _answer(stream, index, current_count, initial_count, algorithm)
        if isinstance(answer, Refusal):
            return answer
        found.append(answer)
    return found


def _answer(
    stream: str, index: int, current: int, initial: int, algorithm: ExpansionAlgorithm
) -> int | Refusal:
    # A user's code may raise anything at all, and none of it may end the planner.
    try:
        answer = algorithm(index, current, initial)
    except Exception as error:
        return _broken(stream, index, f"raised {type(error).__name__}: {error}")
    if type(answer) is not int or not 0 <= answer < initial:
        return _broken(stream, index, f"gave {answer!r}, no index from 0 to {initial - 1}")
    if answer != index < initial:
        return _broken(stream, index, f"moved it to {answer}, and the first {initial} must stay")
    return answer


def _illegal(stream: str, current: int, initial: int, algorithm: ExpansionAlgorithm) -> Refusal | None:
    if current < initial:
        return shrunk_stream_refusal(stream, initial, current)
    if algorithm is modulo and current % initial:
        return Refusal(
            Reason.EXPANSION_NOT_MULTIPLE,
            stream,
            f"its {current} partitions are no multiple of the {initial} it had when its state began, "
            "so keys would move away from their state",
            f"give it {initial * (current // initial + 1)} partitions, or name in {ALGORITHM} "
            "the algorithm by which its producers spread keys",
        )
    return None


def shrunk_stream_refusal(stream: str, before: int, now: int) -> Refusal:
    """The refusal of a stream that has fewer partitions than were seen before."""
    return Refusal(
        Reason.EXPANSION_SHRINKS,
        stream,
        f"it has {now} partitions and had {before}; the keys and records of the missing ones would be lost",
        f"bring it back to {before} partitions, or raise resetNonce to give the state up",
    )


def _broken(stream: str, index: int, what: str) -> Refusal:
    return Refusal(
        Reason.EXPANSION_ALGORITHM_INVALID,
        f"{stream}#{index}" if stream else str(index),
        f"the expansion algorithm {what}",
        f"correct the function that {ALGORITHM} names",
    )
