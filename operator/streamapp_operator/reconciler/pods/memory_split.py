"""Divides the memory of a pod between the JVM's heap and the rest."""

from dataclasses import dataclass

from streamapp_operator.reconciler.pods.quantities import quantity_value

_MEBIBYTE = 2**20
_HEAP = {"driver": 0.5, "executor": 0.4}
"""Lanes work mostly in Python and in native stores, so an executor's heap gets the lesser part."""
MIN_HEAP = 480
"""Spark needs 450 MiB of the heap as the JVM counts it."""
MIN_NON_HEAP = 256


@dataclass(frozen=True, slots=True)
class MemorySplit:
    """The parts of a pod's memory, in MiB."""

    heap: int
    non_heap: int


def split_memory(quantity: str, role: str) -> MemorySplit:
    """The heap's part of a pod's memory, and the rest for Python, stores and buffers."""
    mebibytes = int(quantity_value(quantity)) // _MEBIBYTE
    heap = max(int(mebibytes * _HEAP[role]), MIN_HEAP)
    return MemorySplit(heap, max(0, mebibytes - heap))
