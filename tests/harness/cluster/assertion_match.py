"""Whether an object is as an assertion has it: what the assertion does not mention may be anything."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

KEYS = ("type", "name")
"""By what entries of a list are known."""


def differences(wanted: Any, found: Any, path: str = "") -> list[str]:
    """What is not as it is wanted, each with its path; nothing where all is."""
    return list(_differences(wanted, found, path))


def _differences(wanted: Any, found: Any, path: str) -> Iterator[str]:
    if isinstance(wanted, Mapping):
        if not isinstance(found, Mapping):
            yield f"{path}: {_shown(found)} instead of a mapping"
            return
        for name, value in wanted.items():
            yield from _differences(value, found.get(name), f"{path}.{name}" if path else str(name))
    elif isinstance(wanted, list):
        if not isinstance(found, list):
            yield f"{path}: {_shown(found)} instead of a list"
            return
        yield from _of_lists(wanted, found, path)
    elif wanted != found:
        yield f"{path}: {_shown(found)} instead of {_shown(wanted)}"


def _of_lists(wanted: Sequence[Any], found: Sequence[Any], path: str) -> Iterator[str]:
    """Entries with a key are found by it; lists of anything else are compared whole."""
    for place, entry in enumerate(wanted):
        key = next((key for key in KEYS if isinstance(entry, Mapping) and key in entry), None)
        if key is None:
            if place >= len(found):
                yield f"{path}[{place}]: missing"
                continue
            yield from _differences(entry, found[place], f"{path}[{place}]")
            continue
        there = next((one for one in found if isinstance(one, Mapping) and one.get(key) == entry[key]), None)
        if there is None:
            yield f"{path}[{entry[key]}]: missing"
        else:
            yield from _differences(entry, there, f"{path}[{entry[key]}]")


def _shown(value: Any) -> str:
    return "nothing" if value is None else repr(value)
