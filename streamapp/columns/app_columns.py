"""All that is surely wrong with the columns, keys and expressions of an app, without Spark."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial

from streamapp.columns.column_rules import require_declared_columns, require_fitting_names
from streamapp.columns.compile_order import compile_order, tables_without_columns
from streamapp.columns.compile_refusal import CompileRefusedError, refusals_within
from streamapp.columns.kind_columns import (
    ColumnContext,
    Rows,
    declared_columns,
    input_rows,
    operator_rows,
)
from streamapp.columns.sql_columns import SqlReader
from streamapp.spec.problem import Problem
from streamapp.spec.reasons import Reason
from streamapp.spec.resource.app import StreamApp
from streamapp.spec.resource.operator_kinds import traits_of
from streamapp.spec.resource.tables import SideInput, Table
from streamapp.spec.value_types.column_list import Column

_MORE_FUNCTIONS = ("spark.sql.catalog", "spark.sql.extensions")
"""What settings begin with by which an app gives Spark functions of its own."""


def column_problems(app: StreamApp) -> tuple[Problem, ...]:
    """Every problem, sorted by its path. What reads from something that is wrong is passed over."""
    return _AppColumns(app).all_problems()


def misplaced_side_inputs(app: StreamApp, counts: Mapping[str, int | None]) -> Iterator[Problem]:
    """Side inputs under another key than that by which their streams of these partitions are divided."""
    sql = SqlReader(functions_are_known=_has_only_functions_of_spark(app))
    for index, table in enumerate(app.spec.tables):
        for number, side in enumerate(table.side_inputs):
            if table.broadcast or side.key is None or counts.get(side.stream) in (None, 1):
                continue
            with suppress(CompileRefusedError):  # which is a problem of its own
                rows = input_rows(app.spec.stream(side.stream))
                column = sql.key(side.key, rows.scope)
                if column is not None and not rows.key.changed(column[0]).together:
                    message = (
                        f'stream "{side.stream}" is partitioned by another key, so that a row would be in '
                        "another task than the rows that look it up; write the stream under this key, or "
                        "make the table broadcast"
                    )
                    path = f"spec.tables[{index}].sideInputs[{number}].key"
                    yield Problem(0, 0, path, message, Reason.INVALID_GRAPH)


def _has_only_functions_of_spark(app: StreamApp) -> bool:
    return not any(name.startswith(_MORE_FUNCTIONS) for name in app.spec.driver.spark_conf)


class _AppColumns:
    """The rows of each stream and operator and the columns of tables, as far as they are known by now."""

    def __init__(self, app: StreamApp) -> None:
        self.spec = app.spec
        self.table_columns: dict[str, tuple[Column, ...]] = {}
        self.rows: dict[str, Rows] = {}
        self.wrong: set[str] = set()
        self.problems: list[Problem] = []
        sql = SqlReader(functions_are_known=_has_only_functions_of_spark(app))
        self.context = ColumnContext(app.spec, sql, self.table_columns)

    def all_problems(self) -> tuple[Problem, ...]:
        self.inputs()
        self.tables()
        self.operators()
        self.side_inputs()
        return tuple(sorted(set(self.problems)))

    def inputs(self) -> None:
        """Every stream that an operator or a table reads."""
        names = {source for operator in self.spec.operators for source in operator.sources}
        names |= {side.stream for table in self.spec.tables for side in table.side_inputs}
        for index, stream in enumerate(self.spec.streams):
            if stream.name in names:
                self.add(stream.name, f"spec.streams[{index}]", partial(input_rows, stream))

    def tables(self) -> None:
        """Columns that a table declares, or has from the first stream that fills it."""
        for index, table in enumerate(self.spec.tables):
            if table.columns is not None:
                self.table_columns[table.name] = declared_columns(table.columns)
            elif table.side_inputs:
                with self.problems_at(f"spec.tables[{index}]"):
                    require_declared_columns(table)
                    columns = self.filling_columns(table.side_inputs[0], 0)
                    if columns is not None:
                        self.table_columns[table.name] = columns
        self.problems += tables_without_columns(self.spec)

    def operators(self) -> None:
        """Each operator after those that it reads, and after what gives a table its columns."""
        declared_tables = frozenset(
            table.name for table in self.spec.tables if table.columns is not None or table.side_inputs
        )
        order, circles = compile_order(self.spec, declared_tables)
        self.problems += circles
        filled_tables = set(declared_tables)
        for index in order:
            operator = self.spec.operators[index]
            rows = tuple(self.rows.get(source) for source in operator.sources)
            for table in operator.tables if traits_of(operator).fills_tables else ():
                if table not in filled_tables and rows[0] is not None:
                    self.table_columns[table] = rows[0].columns
                filled_tables.add(table)
            if self.wrong.isdisjoint(operator.sources):
                path = f"spec.operators[{index}].{operator.kind}"
                self.add(operator.name, path, partial(operator_rows, operator, rows, self.context))
            else:
                self.wrong.add(operator.name)

    def side_inputs(self) -> None:
        """Rows that do not fit the table that they fill."""
        for index, table in enumerate(self.spec.tables):
            for number, side in enumerate(table.side_inputs):
                with self.problems_at(f"spec.tables[{index}]"):
                    self.require_fit(table, side, number)

    def require_fit(self, table: Table, side: SideInput, number: int) -> None:
        """Look at one side input of a table."""
        columns, rows = self.filling_columns(side, number), self.rows.get(side.stream)
        if columns is not None and table.name in self.table_columns:
            where = "stream" if side.value is None else "value"
            with refusals_within(f"sideInputs[{number}].{where}"):
                require_fitting_names(columns, self.table_columns[table.name], f'table "{table.name}"')
        if side.key is not None and rows is not None:
            with refusals_within(f"sideInputs[{number}].key"):
                self.context.sql.key(side.key, rows.scope)

    def filling_columns(self, side: SideInput, number: int) -> tuple[Column, ...] | None:
        """The columns that a side input gives to its table."""
        rows = self.rows.get(side.stream)
        if side.python is not None or rows is None:
            return None
        if side.value is None:
            return rows.columns
        with refusals_within(f"sideInputs[{number}].value"):
            chosen = self.context.sql.select(side.value, rows.scope)
        return None if chosen is None else tuple(column for _, column in chosen)

    def add(self, name: str, path: str, step: Callable[[], Rows]) -> None:
        """Keep what one step gives, or why it gives nothing."""
        self.wrong.add(name)
        with self.problems_at(path):
            self.rows[name] = step()
            self.wrong.discard(name)

    @contextmanager
    def problems_at(self, path: str) -> Iterator[None]:
        """A refusal inside is a problem of what stands at this path."""
        try:
            yield
        except CompileRefusedError as refused:
            self.problems.append(refused.at(path))
