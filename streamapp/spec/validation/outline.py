"""A tolerant view of a document: who names whom, read even where other fields are wrong.

The rules across lists work on this, so that a person sees dangling names and wrong types in one go.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from streamapp.spec.resource.operator_kinds import OPERATOR_TRAITS, OperatorKind, OperatorTraits
from streamapp.spec.resource.operators import Operator
from streamapp.spec.text.document import Path

KINDS = Operator.kinds()
Fault = tuple[Path, str]
"""Where, and what is wrong there."""


@dataclass(frozen=True, slots=True)
class NameReference:
    """Something that has a name, or a place where a name is used."""

    name: str
    path: Path


@dataclass(frozen=True, slots=True)
class ListEntry:
    """An entry of a list of named things, with its fields as they stand."""

    name: str
    path: Path
    fields: dict[str, Any]

    def text(self, *keys: str) -> NameReference | None:
        """The text under those keys, where there is one."""
        value: Any = self.fields
        for key in keys:
            value = value.get(key) if isinstance(value, dict) else None
        return NameReference(value, (*self.path, *keys)) if isinstance(value, str) and value else None

    def texts(self, *keys: str) -> tuple[NameReference, ...]:
        """The texts of the list under those keys, or the one text that stands there."""
        value: Any = self.fields
        for key in keys:
            value = value.get(key) if isinstance(value, dict) else None
        if isinstance(value, str):
            return (NameReference(value, (*self.path, *keys)),)
        if not isinstance(value, list):
            return ()
        return tuple(
            NameReference(v, (*self.path, *keys, i)) for i, v in enumerate(value) if isinstance(v, str)
        )


@dataclass(frozen=True, slots=True)
class OperatorEntry(ListEntry):
    """An operator's entry: the names it uses, and its kind; empty where it has none that is known."""

    kind: str

    @property
    def traits(self) -> OperatorTraits | None:
        """The traits of its kind; None where it has no known kind."""
        return OPERATOR_TRAITS[OperatorKind(self.kind)] if self.kind else None

    @property
    def body(self) -> dict[str, Any]:
        """The mapping under its kind; empty where there is none."""
        content = self.fields.get(self.kind)
        return content if isinstance(content, dict) else {}

    @property
    def sources(self) -> tuple[NameReference, ...]:
        """The streams and operators that it reads, by name."""
        return self.texts(self.kind, "from")

    @property
    def tables(self) -> tuple[NameReference, ...]:
        """The tables it reads or writes."""
        one = self.text(self.kind, "table")
        return (one,) if one else self.texts(self.kind, "tables")


@dataclass(frozen=True, slots=True)
class Outline:
    """The named things of one document."""

    systems: tuple[ListEntry, ...]
    streams: tuple[ListEntry, ...]
    tables: tuple[ListEntry, ...]
    operators: tuple[OperatorEntry, ...]
    spec: ListEntry
    broken: frozenset[str]
    """Lists of which an entry has no readable name: what is not found there may be that one."""


def outline(data: Any) -> Outline:
    """The parts of the document that are in good enough form to be compared with the rest."""
    spec = data.get("spec") if isinstance(data, dict) else None
    fields: dict[str, Any] = spec if isinstance(spec, dict) else {}
    steps = tuple(
        OperatorEntry(entry.name, entry.path, entry.fields, _kind(entry.fields))
        for entry in _entries(fields, "operators")
    )
    entry_lists = {key: tuple(_entries(fields, key)) for key in ("systems", "streams", "tables")}
    broken = frozenset(key for key in (*entry_lists, "operators") if _is_broken(key, fields.get(key)))
    return Outline(
        entry_lists["systems"],
        entry_lists["streams"],
        entry_lists["tables"],
        steps,
        ListEntry("", ("spec",), fields),
        broken,
    )


def _kind(fields: dict[str, Any]) -> str:
    return next((kind for kind in KINDS if fields.get(kind) is not None), "")


def _is_broken(key: str, entries: Any) -> bool:
    if not isinstance(entries, list):
        return entries is not None or key != "tables"  # only tables may be left out
    return not all(isinstance(entry, dict) and isinstance(entry.get("name"), str) for entry in entries)


def _entries(spec: dict[str, Any], key: str) -> Iterator[ListEntry]:
    entries = spec.get(key)
    for index, fields in enumerate(entries if isinstance(entries, list) else ()):
        if isinstance(fields, dict) and isinstance(fields.get("name"), str):
            yield ListEntry(fields["name"], ("spec", key, index), fields)
