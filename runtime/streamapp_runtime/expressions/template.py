"""An expression with holes where its columns stand, so that it can be written over any names.

The text between the holes is the user's own, to the letter: nothing is rendered again, so nothing can
change its meaning on the way.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from streamapp_runtime.expressions.row_value import ColumnValue, RowValue, over_positions

BATCH_TIME = -1
"""The hole that takes the batch's time."""


@dataclass(frozen=True, slots=True)
class Template:
    """Pieces of text, and between them positions of columns."""

    pieces: tuple[str | int, ...]
    value: RowValue | None = field(default=None, compare=False)
    """The same for a Python worker, over the same positions; None where only Spark can compute it."""

    @property
    def in_python(self) -> RowValue | None:
        """The value that a worker computes; None where that is for Spark."""
        return self.value if self.column is None else ColumnValue(self.column)

    @property
    def column(self) -> int | None:
        """The position, where the whole expression is one column and nothing else."""
        piece = self.pieces[0] if len(self.pieces) == 1 else ""
        return piece if isinstance(piece, int) and piece != BATCH_TIME else None

    @property
    def columns(self) -> tuple[int, ...]:
        """The positions of all columns that it reads, sorted."""
        return tuple(sorted({p for p in self.pieces if isinstance(p, int) and p != BATCH_TIME}))

    @property
    def reads_batch_time(self) -> bool:
        """True if the expression asks what time it is."""
        return BATCH_TIME in self.pieces

    def over(self, names: Sequence[str], batch_time: str) -> str:
        """The expression with names in its holes."""
        return "".join(
            piece if isinstance(piece, str) else batch_time if piece == BATCH_TIME else names[piece]
            for piece in self.pieces
        )

    def moved(self, to: Sequence[int]) -> "Template":
        """The same expression over other positions: `to` lists the old ones in their new order."""
        return self.placed({old: new for new, old in enumerate(to)}.__getitem__)

    def placed(self, place: Callable[[int], int]) -> "Template":
        """The same expression over columns that stand elsewhere."""
        pieces = (
            place(piece) if isinstance(piece, int) and piece != BATCH_TIME else piece for piece in self.pieces
        )
        return Template(tuple(pieces), self.value and over_positions(self.value, place))

    def inside(self, before: str, after: str) -> "Template":
        """The expression with text around it."""
        return Template((before, *self.pieces, after))


def column_template(position: int) -> Template:
    """One column as it is."""
    return Template((position,))


def column_templates(count: int) -> tuple[Template, ...]:
    """The first columns as they are."""
    return tuple(column_template(position) for position in range(count))


def all_columns(templates: Iterable[Template]) -> bool:
    """True if every expression is a column as it is: a choice, for which nothing is computed."""
    return all(template.column is not None for template in templates)


ROW_ALIAS = "`the row`"
"""What columns are asked for by: no name or lambda variable of a user is like it."""


RECORD_KEY = f"{ROW_ALIAS}.k"
"""The key that a row has as it is, BINARY."""


def substituted(text: Template, over: tuple[Template, ...]) -> Template:
    """An expression over what other expressions make."""
    if text.column is not None:
        return over[text.column]
    places = {place: column for place in text.columns if (column := over[place].column) is not None}
    if len(places) == len(text.columns):
        return text.placed(places.__getitem__)
    pieces: list[str | int] = []
    for piece in text.pieces:
        if isinstance(piece, int) and piece >= 0:
            inner = over[piece]
            pieces += inner.pieces if inner.column is not None else ("(", *inner.pieces, ")")
        else:
            pieces.append(piece)
    return Template(tuple(pieces))
