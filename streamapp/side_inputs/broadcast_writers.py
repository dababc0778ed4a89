"""The writers of a broadcast table: one processor of each location, and its successor."""

from collections.abc import Mapping


def broadcast_writers(
    locations: Mapping[str, str], before: Mapping[str, str] | None = None
) -> dict[str, str]:
    """The writer of each location; `locations` maps processors to locations.

    The previous writer goes on while it is at the location. Otherwise the first processor by name writes, so
    that all callers agree.
    """
    first_processors: dict[str, str] = {}
    for processor in sorted(locations):
        first_processors.setdefault(locations[processor], processor)
    remaining_writers = {
        location: writer for location, writer in (before or {}).items() if locations.get(writer) == location
    }
    return first_processors | remaining_writers
