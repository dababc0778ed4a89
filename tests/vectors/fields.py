"""The fields of a case, and which of them a judge has looked at: none is passed over."""

from collections.abc import Iterator, Mapping
from typing import Any

PROSE = frozenset({"id", "origin", "source", "title", "strictness", "rationale", "samza_head", "note"})
"""Fields of a case that tell people of it. Deeper in a case a field of that name is one like all others."""


class Fields(dict[str, Any]):
    """A mapping of a case that notes which of its fields were looked up.

    Whoever takes all fields at once (`items`, `values`, a comparison) answers for all. To ask whether a field
    is there is not to look at it.
    """

    def __init__(self, content: Mapping[str, Any]) -> None:
        super().__init__({name: _noting(value) for name, value in content.items()})
        self.looked_at: set[str] = set()

    def __getitem__(self, name: str) -> Any:
        self._look(name)
        return super().__getitem__(name)

    def get(self, name: str, default: Any = None) -> Any:
        self._look(name)
        return super().get(name, default)

    def items(self) -> Any:
        self._look(*self)
        return super().items()

    def values(self) -> Any:
        self._look(*self)
        return super().values()

    def __eq__(self, other: object) -> bool:
        self.excuse(*self)
        return super().__eq__(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None

    def excuse(self, *names: str) -> None:
        """These fields, and all below them, do not bind here; or a comparison takes them as they are."""
        for name in names:
            self._look(name)
            _excuse_below(super().get(name))

    def over(self, earlier: "Fields") -> "Fields":
        """These fields over those of an earlier step; a field that is looked up counts for both."""
        return _LaidFields(self, earlier)

    def _look(self, *names: str) -> None:
        self.looked_at.update(names)

    def unread(self, path: str = "") -> Iterator[str]:
        """The fields that nobody looked up, by their paths."""
        for name in self:
            where = f"{path}.{name}" if path else name
            if name in self.looked_at:
                yield from _unread(super().__getitem__(name), where)
            elif path or name not in PROSE:
                yield where


class _LaidFields(Fields):
    """Fields over others."""

    def __init__(self, upper: Fields, lower: Fields) -> None:
        super().__init__({})
        self.layers = upper, lower
        self.update({**lower, **upper})

    def _look(self, *names: str) -> None:
        for layer in self.layers:
            layer._look(*names)


def _noting(value: Any) -> Any:
    if isinstance(value, Mapping):
        return Fields(value)
    return [_noting(item) for item in value] if isinstance(value, list) else value


def _unread(value: Any, path: str) -> Iterator[str]:
    if isinstance(value, Fields):
        yield from value.unread(path)
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _unread(item, f"{path}[{number}]")


def _excuse_below(value: Any) -> None:
    if isinstance(value, Fields):
        value.excuse(*value)
    elif isinstance(value, list):
        for item in value:
            _excuse_below(item)
