"""The differences between two generations of an app, and the effect of each while the app runs."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from streamapp.spec.resource.app import StreamApp
from streamapp.spec.resource.base import Part
from streamapp.spec.resource.config_keys import KEYS
from streamapp.spec.resource.field_marks import Effect
from streamapp.spec.resource.systems import System, home_system

_STRENGTH = {effect: place for place, effect in enumerate(Effect)}


@dataclass(frozen=True, slots=True, order=True)
class Change:
    """One field that says something else than before."""

    path: str  # entries of named lists by their name: `spec.streams[views].columns`
    effect: Effect


def changes(before: StreamApp, after: StreamApp) -> tuple[Change, ...]:
    """Every difference, by path; what is left out says its default."""
    return tuple(sorted(_within("", before, after, Effect.NONE)))


def strongest_effect(changes: Iterable[Change]) -> Effect:
    """The effect of several changes made at once."""
    return max((change.effect for change in changes), key=_STRENGTH.__getitem__, default=Effect.NONE)


def can_apply_live(changes: Iterable[Change]) -> bool:
    """True if a running app can take up all of these changes as it is."""
    return strongest_effect(changes) in {Effect.NONE, Effect.LIVE}


def paths_with_effect(changes: Iterable[Change], effect: Effect) -> tuple[str, ...]:
    """The paths of the changes that have this effect or a stronger one."""
    return tuple(one.path for one in changes if _STRENGTH[one.effect] >= _STRENGTH[effect])


def _within(path: str, before: Part, after: Part, inherited: Effect) -> Iterator[Change]:
    for name, info in type(after).model_fields.items():
        effect = next((mark for mark in info.metadata if isinstance(mark, Effect)), inherited)
        field_path = f"{path}.{info.alias}" if path else str(info.alias)
        yield from _between(field_path, getattr(before, name), getattr(after, name), effect)


def _between(path: str, before: Any, after: Any, effect: Effect) -> Iterator[Change]:
    if before == after:
        return
    if path == "spec.systems":
        before, after = _with_home(before), _with_home(after)
    if isinstance(before, Part) and type(before) is type(after):
        yield from _within(path, before, after, effect)
    elif path == "spec.config":
        yield from _settings(path, before, after)
    elif entries_by_name := _by_name(before, after):
        was, now = entries_by_name
        yield from _entries(path, was, now, effect)
        if list(was) != list(now) and was.keys() == now.keys():
            yield Change(path, Effect.NONE)  # named things mean the same in any order
    else:
        yield Change(path, effect)


def _entries(path: str, was: Mapping[str, Part], now: Mapping[str, Part], effect: Effect) -> Iterator[Change]:
    for name in sorted(was.keys() | now.keys()):
        if name in was and name in now:
            yield from _between(f"{path}[{name}]", was[name], now[name], effect)
        else:
            yield Change(f"{path}[{name}]", effect)


def _with_home(systems: tuple[System, ...]) -> tuple[System, ...]:
    """Systems that say which of them is the home, where none does by itself."""
    home = home_system(systems)
    return tuple(system.model_copy(update={"home": system is home}) for system in systems)


def _settings(path: str, before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[Change]:
    for name in sorted(before.keys() | after.keys()):
        if before.get(name) != after.get(name):
            yield Change(f"{path}.{name}", KEYS[name].effect if name in KEYS else Effect.REPLAN)


def _by_name(before: Any, after: Any) -> tuple[dict[str, Part], dict[str, Part]] | None:
    if not (isinstance(before, tuple) and isinstance(after, tuple)):
        return None
    entries = [*before, *after]
    if not all(isinstance(entry, Part) and hasattr(entry, "name") for entry in entries):
        return None
    return {entry.name: entry for entry in before}, {entry.name: entry for entry in after}
