"""Expansion algorithms: the partition that held a partition's keys when the app first had state.

An expansion algorithm maps a partition's index to the index that held its keys at the initial count. An
algorithm may be a user's function, so its result is not trusted: the contract is checked on every call.
"""

from collections.abc import Sequence
from typing import Protocol

from streamapp.spec.reasons import Reason
from streamapp.spec.resource.config_keys import ALGORITHM
from streamapp.tasks.refusal import Refusal
from streamapp.tasks.user_calls import Complaint, answer_of, shown


class ExpansionAlgorithm(Protocol):
    """Maps a partition to the initial partition that held its keys, and initial indexes to themselves."""

    def __call__(self, index: int, current_count: int, initial_count: int, /) -> int:
        """The initial index, from 0 to `initial_count` - 1."""


def modulo(index: int, _current_count: int, initial_count: int, /) -> int:
    """The algorithm for producers that place a key by its hash modulo the current count."""
    return index % initial_count


def initial_index(
    index: int, current_count: int, initial_count: int, algorithm: ExpansionAlgorithm = modulo
) -> int | Refusal:
    """The initial index of one partition, or a refusal."""
    result = initial_indexes("", current_count, initial_count, algorithm, [index])
    return result if isinstance(result, Refusal) else result[0]


def initial_indexes(
    stream: str,
    current_count: int,
    initial_count: int,
    algorithm: ExpansionAlgorithm = modulo,
    indexes: Sequence[int] | None = None,
    *,
    keys_tied: bool = True,
) -> list[int] | Refusal:
    """The initial index of each partition of a stream, or why the keys cannot stay with their tasks.

    Where no key is tied to its task (`keys_tied` is false), any growth is legal.
    """
    refusal = _count_refusal(stream, current_count, initial_count, algorithm, keys_tied)
    if refusal:
        return refusal
    requested = range(current_count) if indexes is None else indexes
    if algorithm is modulo:  # modulo keeps the contract by construction
        return [index % initial_count for index in requested]
    initial: list[int] = []
    for index in requested:
        answer = _checked_index(stream, index, current_count, initial_count, algorithm)
        if isinstance(answer, Refusal):
            return answer
        initial.append(answer)
    return initial


def _checked_index(
    stream: str, index: int, current: int, initial: int, algorithm: ExpansionAlgorithm
) -> int | Refusal:
    answer = answer_of(lambda: _index_in(algorithm(index, current, initial), index, initial))
    return _algorithm_refusal(stream, index, answer.text) if isinstance(answer, Complaint) else answer


def _index_in(answer: object, index: int, initial: int) -> int | Complaint:
    """The initial index that an algorithm's answer is, which may be anything."""
    if type(answer) is not int or not 0 <= answer < initial:
        return Complaint(f"gave {shown(answer)}, no index from 0 to {initial - 1}")
    if answer != index < initial:
        return Complaint(f"moved it to {answer}, and the first {initial} must stay")
    return answer


def _count_refusal(
    stream: str, current_count: int, initial_count: int, algorithm: ExpansionAlgorithm, keys_tied: bool
) -> Refusal | None:
    if current_count < initial_count:
        return shrunk_stream_refusal(stream, initial_count, current_count)
    if keys_tied and algorithm is modulo and current_count % initial_count:
        return Refusal(
            Reason.EXPANSION_NOT_MULTIPLE,
            stream,
            f"its {current_count} partitions are no multiple of the {initial_count} "
            "it had when its state began, so keys would move away from their state",
            f"give it {initial_count * (current_count // initial_count + 1)} partitions, "
            f"or name in {ALGORITHM} the algorithm by which its producers spread keys",
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


def _algorithm_refusal(stream: str, index: int, complaint: str) -> Refusal:
    return Refusal(
        Reason.EXPANSION_ALGORITHM_INVALID,
        f"{stream}#{index}" if stream else str(index),
        f"the expansion algorithm {complaint}",
        f"correct the function that {ALGORITHM} names",
    )
