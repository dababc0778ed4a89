"""The test for state of an app that ties its keys to tasks."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StoreTraits:
    """The traits of a store that decide whether its content outlives the processor."""

    persistent: bool
    changelog: bool


def is_stateful(stores: Iterable[StoreTraits]) -> bool:
    """True if keys must stay with their tasks.

    A changelog counts as state, a store in memory that has one therefore too. A store in memory without one
    is empty after the restart that any change of tasks brings, so nothing is lost when keys move.
    """
    return any(store.persistent or store.changelog for store in stores)
