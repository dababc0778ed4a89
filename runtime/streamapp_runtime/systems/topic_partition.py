"""The physical address of a partition, which systems speak of; that of an app's stream is `Partition`."""

from typing import NamedTuple


class TopicPartition(NamedTuple):
    """Partition 3 of the topic `page-views` is `page-views#3`, in whichever system is asked."""

    topic: str
    index: int  # type: ignore[assignment]  # hides tuple.index, which nobody asks of an address

    def __str__(self) -> str:
        return f"{self.topic}#{self.index}"
