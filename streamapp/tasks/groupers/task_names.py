"""The names of new tasks. A name is the address of state, so a remembered name never changes."""

from streamapp.tasks.partition import Partition


def by_partition(partition: Partition) -> str:
    """Partitions of one index share a task: `Partition 3`."""
    return f"Partition {partition.index}"


def by_stream_partition(partition: Partition) -> str:
    """Each partition has a task: `SystemStreamPartition [kafka, views, 3]` for `kafka.views#3`."""
    stream = partition.stream.replace(".", ", ", 1)
    return f"SystemStreamPartition [{stream}, {partition.index}]"


def of_processor(processor: str) -> str:
    """One task per processor, each with every partition: `Task-0`."""
    return f"Task-{processor}"
