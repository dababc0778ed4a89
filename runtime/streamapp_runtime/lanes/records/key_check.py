"""The check that records have the keys that their stream declares, and lie where these belong.

Results depend on it wherever keys meet: a record in another task than its key's finds no match there, and its
group is counted twice.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from streamapp.spec.problem import short
from streamapp.spec.value_types.partitioner_names import PARTITIONERS, PartitionerName
from streamapp.tasks.key_placement import NO_TASK, KeyPlacement, KeyReliance
from streamapp_runtime.key_partitioning import partition_of
from streamapp_runtime.operators.stateless.stream_operations import Read
from streamapp_runtime.rows.byte_columns import key_bytes, true_places

_EXACT_TYPES = (
    pa.types.is_binary,
    pa.types.is_string,
    pa.types.is_integer,
    pa.types.is_boolean,
    pa.types.is_date,
)
OWN_KEY: Final = "ownKey"
"""The column of decoded records that holds the key that each has of itself, as rows have keys."""
TOMBSTONE: Final = "tombstone"
"""The column of decoded records that says which of them delete."""
PartitionIndexes = npt.NDArray[np.int64]
"""The partition in which each record was read."""
MEND = (
    "write it under its key, put a partitionBy before what needs the key, "
    'or say "keys: unchecked" for the stream'
)

_OTHER_PARTITIONER: Final = (
    'all keys here are where {0} puts them: say "partitioner: {0}" for the stream if its producers do so'
)
_LEAST_KEYS: Final = 8
"""So many different keys that all fit another hash are no chance."""


@dataclass(frozen=True, slots=True)
class KeyCheck:
    """The column and the placement against which the keys of a stream's records are held."""

    column: str | None  # the column that is said to be the key
    placement: KeyPlacement | None  # None where it does not matter in which partition a key is

    def faults(
        self, records: pa.RecordBatch, keys: pa.Array, columns: pa.RecordBatch, partitions: PartitionIndexes
    ) -> dict[int, str]:
        """The faults of the keys of records that could be decoded, by the records' place in the batch.

        `records` say which key each has of itself, and which of them are tombstones. `keys` are the same, and
        where a record has none that of the column. `partitions` says where each record was read.
        """
        faults: dict[int, str] = {}
        if self.placement is not None:
            misplaced = misplaced_keys(self.placement, partitions, keys)
            fitting = fitting_partitioner(self.placement, partitions, keys) if misplaced else None
            mend = MEND if fitting is None else _OTHER_PARTITIONER.format(fitting)
            faults |= {place: f"its key {where}; {mend}" for place, where in misplaced.items()}
        if self.column is not None:
            faults |= _null_keys(self.column, keys)
            faults |= _other_keys(self.column, records, columns.column(self.column))
        return faults


def key_check(read: Read, placements: Mapping[str, KeyPlacement]) -> KeyCheck | None:
    """The check of the keys of a stream; None where nothing relies on them."""
    if read.reliance is KeyReliance.NONE:
        return None
    placement = placements.get(read.stream) if read.reliance is KeyReliance.PLACE else None
    column = read.key if any(each.name == read.key for each in read.columns) else None
    if column is None and placement is None:
        return None
    return KeyCheck(column, placement)


def key_texts(column: pa.Array) -> pa.BinaryArray | None:
    """The keys of a column's values; None for types whose values have several spellings."""
    is_exact = any(is_of_type(column.type) for is_of_type in _EXACT_TYPES)
    return key_bytes(column) if is_exact else None


def misplaced_keys(placement: KeyPlacement, partitions: PartitionIndexes, keys: pa.Array) -> dict[int, str]:
    """The keys of another task than that of their partition, by their place, and where each belongs."""
    initial_indexes = _initial_indexes(placement, partitions)
    key_indexes = partition_of(keys, placement.count, partitioner=placement.partitioner)
    misplaced: npt.NDArray[np.bool_] = key_indexes != initial_indexes
    if not misplaced.any():
        return {}
    tasks = np.array(placement.tasks, np.int32)
    partition_tasks = tasks[initial_indexes]
    # Several partitions may be of one task, and one of which each task has its own copy is in its place.
    misplaced &= (tasks[key_indexes] != partition_tasks) & (partition_tasks != NO_TASK)
    if keys.null_count:
        misplaced &= keys.is_valid().to_numpy(zero_copy_only=False)
    places = np.flatnonzero(misplaced)
    texts = _texts(keys, places)
    return {
        place: f"{text} belongs in partition {index} {_counted(placement, partition)}"
        for place, text, index, partition in zip(
            places.tolist(), texts, key_indexes[places].tolist(), partitions[places].tolist(), strict=True
        )
    }


def fitting_partitioner(
    placement: KeyPlacement, partitions: PartitionIndexes, keys: pa.Array
) -> PartitionerName | None:
    """The other partitioner that has put all of these keys where they are; None where none surely has."""
    known = np.asarray(pc.greater(pc.fill_null(pc.binary_length(keys), 0), 0))
    if pc.count_distinct(keys.filter(pa.array(known))).as_py() < _LEAST_KEYS:
        return None
    initial_indexes = _initial_indexes(placement, partitions)
    for name in PARTITIONERS:
        if name == placement.partitioner:
            continue
        fits = partition_of(keys, placement.count, partitioner=name) == initial_indexes
        if fits[known].all():
            return name
    return None


def _initial_indexes(placement: KeyPlacement, partitions: PartitionIndexes) -> PartitionIndexes:
    """The initial partition that each of these goes back to."""
    distinct, places = np.unique(partitions, return_inverse=True)
    return np.array([placement.initial_index(index) for index in distinct.tolist()], np.int64)[places]


def _counted(placement: KeyPlacement, partition: int) -> str:
    """Of how many partitions one is that keys belong in."""
    if partition < placement.count:
        return f"of {placement.count}"
    initial_index = placement.initial_index(partition)
    return f"of {placement.count} when state began, and this partition goes with {initial_index}"


def _null_keys(column: str, keys: pa.Array) -> dict[int, str]:
    if not keys.null_count:
        return {}
    reason = f"it has no key, and its column {column} is null, so that it belongs to no task; {MEND}"
    return dict.fromkeys(true_places(keys.is_null()), reason)


def _other_keys(column: str, records: pa.RecordBatch, values: pa.Array) -> dict[int, str]:
    """Records that have a key of their own and say something else in the column."""
    own = records.column(OWN_KEY)
    faults: dict[int, str] = {}
    texts = key_texts(values)
    if texts is not None:
        different = pc.fill_null(pc.not_equal(own, texts), False)
        if different.true_count:
            places = true_places(different)
            for place, key, text in zip(places, _texts(own, places), _texts(texts, places), strict=True):
                faults[place] = f"its key is {key}, and its column {column} is {text}; {MEND}"
    if values.null_count:
        lacking = pc.and_not(pc.and_(values.is_null(), own.is_valid()), records.column(TOMBSTONE))
        places = true_places(lacking)
        for place, key in zip(places, _texts(own, places), strict=True):
            faults[place] = f"its key is {key}, and its column {column} is null; {MEND}"
    return faults


def _texts(keys: pa.Array, places: Iterable[int]) -> list[str]:
    """The keys at these places, for people."""
    chosen = keys.take(pa.array(list(places), pa.int64())).to_pylist()
    return [f'"{short(key.decode(errors="replace"))}"' for key in chosen]
