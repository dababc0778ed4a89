"""Who fills a broadcast table: one processor of each location, and which goes on when that one is gone."""

from collections.abc import Mapping


def broadcast_writers(
    locations: Mapping[str, str], before: Mapping[str, str] | None = None
) -> dict[str, str]:
    """The writer of each location, of the processors and where each of them finds itself.

    The one that wrote before goes on while it is there; else it is the first by name, so that all who ask
    get one answer.
    """
    found: dict[str, str] = {}
    for processor in sorted(locations):
        found.setdefault(locations[processor], processor)
    staying = {place: former for place, former in (before or {}).items() if locations.get(former) == place}
    return found | staying
