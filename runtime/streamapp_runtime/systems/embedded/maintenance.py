"""The compaction of partitions, and the removal of old records: after commits, and by `tidy`."""

from collections.abc import Iterable
from dataclasses import dataclass

from streamapp_runtime.systems.embedded import compaction, expiry, partition_extent, stream_table
from streamapp_runtime.systems.embedded.block import Compression
from streamapp_runtime.systems.embedded.lmdb_environment import Environment
from streamapp_runtime.systems.topic_partition import TopicPartition


@dataclass(frozen=True, slots=True)
class MaintenanceRules:
    """The rules by which a log maintains itself."""

    compact_from_bytes: int = 4 << 20  # less than this since the last compaction is not worth another one
    compact_at_commit_bytes: int = (
        64 << 20
    )  # a larger partition waits for `tidy`, so that no lane waits for it
    tombstones_ms: int = 24 * 3_600_000  # how long a deleted key can be seen to be deleted


def maintain(
    environment: Environment,
    partitions: Iterable[TopicPartition],
    rules: MaintenanceRules,
    now_ms: int,
    compression: Compression | None,
    largest: int | None = None,
) -> None:
    """Do what is due; partitions larger than `largest` bytes are left uncompacted."""
    for partition in partitions:
        index = partition.index
        with environment.reading() as txn:
            stream = stream_table.owner_of(txn, partition)
            expired = expiry.expired_below(txn, stream, index, now_ms)
            extent = partition_extent.load_extent(txn, stream.id, index)
        if expired is not None:
            with environment.writing() as txn:
                expiry.drop_below(txn, stream.id, index, expired)
        small_enough = largest is None or extent.size <= largest
        if (
            stream.options.compacted
            and small_enough
            and compaction.is_compaction_due(extent, rules.compact_from_bytes)
        ):
            before = now_ms - rules.tombstones_ms
            compaction.compact_partition(environment, stream.id, index, before, compression)
