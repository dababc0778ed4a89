"""How the memory of a pod is divided between the JVM and all that runs beside it."""

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
"""Spark starts with no less than 450 MiB, by what the JVM counts of its heap."""
MIN_NON_HEAP = 256


@dataclass(frozen=True, slots=True)
class MemorySplit:
    """The parts of a pod's memory, in MiB."""

    heap: int
    beside: int


def quantity_bytes(quantity: str) -> int:
    """A Kubernetes quantity as a number."""
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)([A-Za-z]*)", quantity)
    if found is None or found[2] not in _UNITS:
        raise ValueError(f'"{quantity}" is no quantity')
    return int(float(found[1]) * _UNITS[found[2]])


def split_memory(quantity: str, role: str) -> MemorySplit:
    """What of a pod's memory the heap gets, and what is left for Python, stores and buffers."""
    whole = quantity_bytes(quantity) // _MEBIBYTE
    heap = max(int(whole * _HEAP[role]), MIN_HEAP)
    return MemorySplit(heap, max(0, whole - heap))
