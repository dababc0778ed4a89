"""Names the places whose local stores several processors can share."""

from typing import Final


class LocationId(str):
    """The name of a place: processors with equal ones can read and write each other's local stores."""

    __slots__ = ()


class _Unknown(LocationId):
    """Like a NaN, it differs from everything, itself too: two unknown places are not the same place.

    It is empty as text, so that `if location` asks whether one is known.
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
        return "UNKNOWN"  # a copy of it is it


UNKNOWN: Final[LocationId] = _Unknown()


def same_location(one: str | None, other: str | None) -> bool:
    """Whether both are known and the same; None is unknown, as stored data has it."""
    return bool(one) and one == other
