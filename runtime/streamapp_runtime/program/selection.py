"""Select lists: from their text to named, typed expressions over a scope."""

from collections.abc import Iterator
from dataclasses import dataclass

from pyspark.sql import SparkSession

from streamapp.spec.problem import short
from streamapp.spec.value_types.column_list import Column
from streamapp_runtime.program.analysis import ROWS, Allowed, analyse
from streamapp_runtime.program.catalyst import Item, read_items
from streamapp_runtime.program.expression import bind, expression
from streamapp_runtime.program.generators import GENERATORS, generates, generator_of
from streamapp_runtime.program.piece import Generator
from streamapp_runtime.program.refusal import RefusedError
from streamapp_runtime.program.scope import Scope
from streamapp_runtime.program.template import Template, column


@dataclass(frozen=True, slots=True)
class Selection:
    """What a select list gives: columns, and for each of them the expression that makes it."""

    columns: tuple[Column, ...]
    outputs: tuple[Template, ...]
    generator: Generator | None = None

    def kept(self, given: tuple[Column, ...]) -> dict[str, str]:
        """The new name of each of the first columns that is given on as it is."""
        names = [c.name for c in given]
        return {
            names[t.column].lower(): c.name
            for c, t in zip(reversed(self.columns), reversed(self.outputs), strict=True)
            if t.column is not None and t.column < len(names)
        }


def select(spark: SparkSession, text: str, scope: Scope) -> Selection:
    """A select list that makes one row of each."""
    return _select(spark, list(_expanded(read_items(spark, text), scope)), scope, ROWS)


def select_with_generator(spark: SparkSession, text: str, scope: Scope) -> Selection:
    """A select list that has one generator and makes any number of rows of each."""
    entries = list(_expanded(read_items(spark, text), scope))
    count = sum(isinstance(entry, Item) and generates(entry) for entry in entries)
    if count != 1:
        what = "no generator; use map, or one of" if not count else f"{count} generators; allowed is one of"
        raise RefusedError(f"has {what} {', '.join(GENERATORS)} as an entry of its own")
    return _select(spark, entries, scope, Allowed(generator=True))


def condition(spark: SparkSession, text: str, scope: Scope) -> Template:
    """An expression that has to be true or false."""
    template, kind = expression(spark, text, scope)
    if kind != "BOOLEAN":
        raise RefusedError(f"has to be BOOLEAN; found {kind}")
    return template


def unique(columns: tuple[Column, ...]) -> tuple[Column, ...]:
    """The columns, or a refusal where two have one name."""
    seen: set[str] = set()
    for each in columns:
        if each.name.lower() in seen:
            raise RefusedError(f'two columns are called "{short(each.name)}"; give one another name with AS')
        seen.add(each.name.lower())
    return columns


def _expanded(items: tuple[Item, ...], scope: Scope) -> Iterator[Item | int]:
    """The entries, with positions of columns in place of each `*`."""
    for item in items:
        if not item.star:
            yield item
            continue
        positions = scope.star(item.star_of)
        if positions is None:
            raise RefusedError(scope.unknown((item.star_of or "", "*")))
        yield from positions


def _select(spark: SparkSession, entries: list[Item | int], scope: Scope, allowed: Allowed) -> Selection:
    names = scope.columns
    generator: Generator | None = None
    templates: list[Template] = []
    # The names of what a generator makes are Spark's to give: its place holds as many as are left over.
    texts = [entry.whole for entry in entries if isinstance(entry, Item)]
    bound = {i: bind(e, scope) for i, e in enumerate(entries) if isinstance(e, Item) and not generates(e)}
    found = list(analyse(spark, texts, scope, allowed)) if texts else []
    made = len(found) - len(bound)
    columns: list[Column] = []
    for index, entry in enumerate(entries):
        if isinstance(entry, int):
            columns.append(names[entry])
            templates.append(column(entry))
        elif index in bound:
            columns.append(found.pop(0))
            templates.append(bound[index])
        else:
            generator = generator_of(spark, entry, scope)
            for number in range(made):
                columns.append(found.pop(0))
                templates.append(column(len(names) + number))
    return Selection(unique(tuple(columns)), tuple(templates), generator)
