"""Select lists: from their text to named, typed expressions over a scope."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from streamapp.columns.column_rules import new_names, require_boolean, require_one_generator, require_unique
from streamapp.columns.column_scope import ColumnScope
from streamapp.columns.compile_refusal import CompileRefusedError
from streamapp.spec.value_types.column_list import Column
from streamapp_runtime.expressions.analysis import ROW_FUNCTIONS, AllowedFunctions, select_list_columns
from streamapp_runtime.expressions.catalyst import SelectItem, read_select_items
from streamapp_runtime.expressions.expression import bind, expression, plain_template
from streamapp_runtime.expressions.generators import Generator, generator_of, is_generator
from streamapp_runtime.expressions.plain.plain_expression import (
    PlainEntry,
    PlainName,
    PlainReader,
    column_of,
    plain_tokens,
)
from streamapp_runtime.expressions.plain.plain_value import plain_output
from streamapp_runtime.expressions.spark_source import SparkSource
from streamapp_runtime.expressions.template import Template, column_template


@dataclass(frozen=True, slots=True)
class SelectList:
    """The columns of a select list, and for each of them the expression that makes it."""

    columns: tuple[Column, ...]
    outputs: tuple[Template, ...]
    generator: Generator | None = None

    def unchanged_columns(self, input_columns: tuple[Column, ...]) -> dict[str, str]:
        """The new name of each of the first columns that is given on as it is."""
        return new_names(input_columns, self.chosen())

    def chosen(self) -> Iterator[tuple[int | None, Column]]:
        """Each column, with the position of the one that it is as it stands, if it is one."""
        return ((output.column, column) for output, column in zip(self.outputs, self.columns, strict=True))


def select(spark: SparkSource, text: str, scope: ColumnScope) -> SelectList:
    """A select list that makes one row of each."""
    plain = _plain_select(text, scope)
    if plain is not None:
        return plain
    return _select(spark, list(_expanded(read_select_items(spark, text), scope)), scope, ROW_FUNCTIONS)


def select_with_generator(spark: SparkSource, text: str, scope: ColumnScope) -> SelectList:
    """A select list that has one generator and makes any number of rows of each."""
    entries = list(_expanded(read_select_items(spark, text), scope))
    require_one_generator(sum(isinstance(entry, SelectItem) and is_generator(entry) for entry in entries))
    return _select(spark, entries, scope, AllowedFunctions(generator=True))


def condition(spark: SparkSource, text: str, scope: ColumnScope) -> Template:
    """An expression that has to be true or false."""
    template, kind = expression(spark, text, scope)
    require_boolean(kind)
    return template


def _plain_select(text: str, scope: ColumnScope) -> SelectList | None:
    """A list of columns, stars, and expressions that need no Spark; None where it has anything else."""
    reader = PlainReader(plain_tokens(text) or ())
    columns: list[Column] = []
    outputs: list[Template] = []
    while True:
        place = reader.place
        entry = reader.entry()
        positions = _positions(entry, scope) if entry is not None else ()
        if entry is not None and positions:
            named = [replace(scope.columns[p], name=entry.alias or scope.columns[p].name) for p in positions]
            columns += named
            outputs += [column_template(position) for position in positions]
        else:
            reader.place = place
            output = plain_output(reader, scope)
            if output is None:
                return None
            columns.append(Column(output.name, output.computed.type))
            computed_text = text[output.start : output.end]
            outputs.append(plain_template(computed_text, output.computed, scope, output.start))
        if reader.done:
            return SelectList(require_unique(tuple(columns)), tuple(outputs))
        if not reader.take(","):
            return None


def _positions(entry: PlainEntry, scope: ColumnScope) -> tuple[int, ...]:
    """The columns that an entry stands for; none where Spark has to say what is wrong."""
    if entry.value is None:
        return scope.star(entry.star_of or None) or ()
    if not isinstance(entry.value, PlainName) or column_of(entry.value, scope) is None:
        return ()
    match = scope.find(entry.value.parts)
    return () if match is None else (match[0],)


def _expanded(items: tuple[SelectItem, ...], scope: ColumnScope) -> Iterator[SelectItem | int]:
    """The entries, with positions of columns in place of each `*`."""
    for item in items:
        if not item.star:
            yield item
            continue
        positions = scope.star(item.star_of)
        if positions is None:
            raise CompileRefusedError(scope.unknown((item.star_of or "", "*")))
        yield from positions


def _select(
    spark: SparkSource, entries: list[SelectItem | int], scope: ColumnScope, allowed: AllowedFunctions
) -> SelectList:
    names = scope.columns
    generator: Generator | None = None
    templates: list[Template] = []
    # The names of what a generator makes are Spark's to give: its place holds as many as are left over.
    texts = [entry.whole for entry in entries if isinstance(entry, SelectItem)]
    bound = {
        i: bind(e, scope) for i, e in enumerate(entries) if isinstance(e, SelectItem) and not is_generator(e)
    }
    analysed = list(select_list_columns(spark, texts, scope, allowed)) if texts else []
    generated = len(analysed) - len(bound)
    columns: list[Column] = []
    for index, entry in enumerate(entries):
        if isinstance(entry, int):
            columns.append(names[entry])
            templates.append(column_template(entry))
        elif index in bound:
            columns.append(analysed.pop(0))
            templates.append(bound[index])
        else:
            generator = generator_of(spark, entry, scope)
            for number in range(generated):
                columns.append(analysed.pop(0))
                templates.append(column_template(len(names) + number))
    return SelectList(require_unique(tuple(columns)), tuple(templates), generator)
