"""Identifiers of locations: processors at one location can share local stores."""

from typing import Final


class LocationId(str):
    """The identifier of a location: processors of one location can use each other's local stores."""

    __slots__ = ()


class _Unknown(LocationId):
    """The unknown location. Like a NaN it equals nothing, itself included: two unknown locations may differ.

    Its text is empty, so that `if location` asks whether the location is known.
    """

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return False

    def __ne__(self, other: object) -> bool:
        return True

    __hash__ = str.__hash__

    def __str__(self) -> str:
        return "unknown"

    def __repr__(self) -> str:
        return "UNKNOWN"

    def __reduce__(self) -> str:
        return "UNKNOWN"  # a copy is the same object


UNKNOWN: Final[LocationId] = _Unknown()


def same_location(location: str | None, other: str | None) -> bool:
    """True if both locations are known and equal; stored data has None for an unknown location."""
    return bool(location) and location == other
