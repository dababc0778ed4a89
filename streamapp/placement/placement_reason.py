"""Why a task runs on its processor."""

from collections.abc import Container, Mapping
from enum import StrEnum

from streamapp.placement.locations.location_id import same_location


class PlacementReason(StrEnum):
    """The outcome for a task and, after the colon, the reason."""

    STAYED = "stayed"
    STAYED_AWAY = "stayed: on its processor, away from its location, which has more tasks than it can carry"
    STAYED_LOCATION_GONE = "stayed: on its processor, since no processor is at its location"
    SAME_LOCATION = "same location: which processor had it is not known"
    SAME_LOCATION_PROCESSOR_GONE = "same location: its processor was removed"
    SAME_LOCATION_PROCESSOR_AWAY = "same location: its processor is now at another location"
    SAME_LOCATION_PROCESSOR_FULL = "same location: its processor carries its share"
    RETURNED_LOCATION_GONE = "returned: to where it has left a store, since no processor is at its location"
    RETURNED_LOCATION_FULL = (
        "returned: to where it has left a store, since the processors at its location carry their share"
    )
    MOVED_LOCATION_GONE = "moved: no processor is at its location"
    MOVED_LOCATION_FULL = "moved: the processors at its location carry their share"
    MOVED_PROCESSOR_GONE = "moved: its processor was removed and its location is not known"
    MOVED_PROCESSOR_FULL = "moved: its processor carries its share and its location is not known"
    NEW = "new: neither its location nor its processor is known"

    @property
    def kind(self) -> str:
        """`stayed`, `same location`, `returned`, `moved` or `new`."""
        return self.partition(":")[0]


def placement_reason(
    processor: str,
    location: str | None,
    owner: str | None,
    processor_locality: Mapping[str, str | None],
    store_locations: Container[str] = (),
) -> PlacementReason:
    """Why a task is on `processor`; `location` and `owner` are the last ones recorded for the task.

    `store_locations` are those where stores of the task lie.
    """
    location_has_processor = location in processor_locality.values()
    if same_location(location, processor_locality[processor]):
        return (
            PlacementReason.STAYED
            if processor == owner
            else _same_location_reason(location, owner, processor_locality)
        )
    if processor == owner:
        return (
            PlacementReason.STAYED
            if not location
            else PlacementReason.STAYED_AWAY
            if location_has_processor
            else PlacementReason.STAYED_LOCATION_GONE
        )
    here = processor_locality[processor]
    if location and here and here in store_locations:
        return (
            PlacementReason.RETURNED_LOCATION_FULL
            if location_has_processor
            else PlacementReason.RETURNED_LOCATION_GONE
        )
    if location:
        return (
            PlacementReason.MOVED_LOCATION_FULL
            if location_has_processor
            else PlacementReason.MOVED_LOCATION_GONE
        )
    if owner is None:
        return PlacementReason.NEW
    return (
        PlacementReason.MOVED_PROCESSOR_FULL
        if owner in processor_locality
        else PlacementReason.MOVED_PROCESSOR_GONE
    )


def _same_location_reason(
    location: str | None, owner: str | None, processor_locality: Mapping[str, str | None]
) -> PlacementReason:
    if owner is None:
        return PlacementReason.SAME_LOCATION
    if owner not in processor_locality:
        return PlacementReason.SAME_LOCATION_PROCESSOR_GONE
    if same_location(location, processor_locality[owner]):
        return PlacementReason.SAME_LOCATION_PROCESSOR_FULL
    return PlacementReason.SAME_LOCATION_PROCESSOR_AWAY
