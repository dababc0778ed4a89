"""The names that an expression may use: columns of what it reads, some also by the name of their side."""

from collections.abc import Sequence
from dataclasses import dataclass

from streamapp.spec.problem import nearest, short
from streamapp.spec.value_types.column_list import Column


@dataclass(frozen=True, slots=True)
class ScopeSide:
    """Columns that lie together, and the name they can be asked for by; none where there is one side only."""

    name: str
    columns: tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class ColumnScope:
    """All sides; a position counts through them in order.

    A name that two sides have is the first side's, or has to say its side where `first_wins` is false.
    """

    sides: tuple[ScopeSide, ...]
    first_wins: bool = True

    @property
    def columns(self) -> tuple[Column, ...]:
        """All columns, each at its position."""
        return tuple(column for side in self.sides for column in side.columns)

    def by_name(self) -> dict[str, int]:
        """The position of each column that can be named alone; names are in small letters."""
        positions: dict[str, int] = {}
        ambiguous: set[str] = set()
        for position, column in enumerate(self.columns):
            name = column.name.lower()
            ambiguous |= {name} & positions.keys()
            positions.setdefault(name, position)
        return positions if self.first_wins else {n: p for n, p in positions.items() if n not in ambiguous}

    def side(self, name: str) -> dict[str, int] | None:
        """The positions of a side's columns by name; None where no side is called so, or a column is."""
        if name.lower() in {column.name.lower() for column in self.columns}:
            return None
        start = 0
        for side in self.sides:
            if side.name and side.name.lower() == name.lower():
                return {c.name.lower(): start + place for place, c in enumerate(side.columns)}
            start += len(side.columns)
        return None

    def find(self, parts: Sequence[str]) -> tuple[int, tuple[str, ...]] | None:
        """The column that a dotted name begins with, and the fields that follow it."""
        of_side = self.side(parts[0])
        if of_side is not None and len(parts) > 1 and parts[1].lower() in of_side:
            return of_side[parts[1].lower()], tuple(parts[2:])
        alone = self.by_name().get(parts[0].lower())
        return None if alone is None else (alone, tuple(parts[1:]))

    def star(self, of: str | None) -> tuple[int, ...] | None:
        """The positions of `*` or `side.*`; a name that two sides have stands once, if the first one wins."""
        if of is not None:
            positions = self.side(of)
            return None if positions is None else tuple(positions.values())
        if self.first_wins:
            return tuple(self.by_name().values())
        return tuple(range(len(self.columns)))

    def unknown(self, parts: Sequence[str]) -> str:
        """Why a name says nothing here, and what was probably meant."""
        dotted_name = short(".".join(parts))
        of_side = self.side(parts[0])
        if of_side is not None and len(parts) > 1:
            return f'no column "{dotted_name}"{nearest(parts[1], list(of_side))}'
        if sum(column.name.lower() == parts[0].lower() for column in self.columns) > 1:
            sides = " or ".join(f"{side.name}.{parts[0]}" for side in self.sides)
            return f'"{dotted_name}" is on both sides; write {sides}'
        return (
            f'no column "{dotted_name}"{nearest(parts[0], list(dict.fromkeys(c.name for c in self.columns)))}'
        )
