"""Divides the memory of a pod between the JVM's heap and the rest."""

import re
from dataclasses import dataclass

_UNITS = {
    "": 1, "m": 1e-3, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15,
    "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "Pi": 2**50,
}  # fmt: skip
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


def quantity_bytes(quantity: str) -> int:
    """The value of a Kubernetes quantity, in bytes."""
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)([A-Za-z]*)", quantity)
    if match is None or match[2] not in _UNITS:
        raise ValueError(f'"{quantity}" is no quantity')
    return int(float(match[1]) * _UNITS[match[2]])


def split_memory(quantity: str, role: str) -> MemorySplit:
    """The heap's part of a pod's memory, and the rest for Python, stores and buffers."""
    mebibytes = quantity_bytes(quantity) // _MEBIBYTE
    heap = max(int(mebibytes * _HEAP[role]), MIN_HEAP)
    return MemorySplit(heap, max(0, mebibytes - heap))
