"""One app in detail: its streams, tables and tasks, below its line of the table."""

from collections.abc import Iterator, Sequence

from streamapp.cli.app_table.app_figures import RunFigures, TableFigures, TaskFigures
from streamapp.cli.app_table.figure_text import UNKNOWN, count_text, duration_text, rate_text, size_text
from streamapp.cli.app_table.figures_table import fitted
from streamapp.cli.output_option import aligned_columns


def detail_lines(run: RunFigures, width: int | None) -> list[str]:
    """Tables of the streams by lag, of tables and state by size, and of the tasks.

    Tasks that wait come first, then those with most lag.
    """
    lines = [line for part in (_waits(run), _streams(run), _tables(run), _tasks(run)) for line in part]
    return [fitted(line, width) for line in lines]


def _waits(run: RunFigures) -> Iterator[str]:
    if run.waits:
        yield ""
        yield from (wait.text for wait in run.waits)


def _streams(run: RunFigures) -> Iterator[str]:
    rows = [
        (
            stream.name,
            stream.role,
            count_text(stream.partitions),
            rate_text(stream.rows_in),
            rate_text(stream.rows_out),
            count_text(stream.lag),
            duration_text(stream.behind),
        )
        for stream in sorted(run.streams, key=lambda stream: (-(stream.lag or 0), stream.name))
    ]
    yield from _section(("STREAM", "ROLE", "PARTITIONS", "IN/S", "OUT/S", "LAG", "BEHIND"), rows, range(2, 7))


def _tables(run: RunFigures) -> Iterator[str]:
    def by_size(table: TableFigures) -> tuple[int, str]:
        return -(table.size or 0), table.name

    rows = [
        (table.name, table.kind, _about(table.entries), size_text(table.size))
        for table in sorted(run.tables, key=by_size)
    ]
    yield from _section(("TABLE", "KIND", "ENTRIES", "SIZE"), rows, range(2, 4))


def _about(entries: int | None) -> str:
    """The number of a table's entries, which some stores only estimate."""
    return count_text(entries) if entries is None else f"~{count_text(entries)}"


def _tasks(run: RunFigures) -> Iterator[str]:
    def by_trouble(task: TaskFigures) -> tuple[bool, int]:
        return task.state == "working", -(task.lag or 0)

    rows = [
        (
            task.name,
            task.processor,
            task.state,
            rate_text(task.rows_in),
            count_text(task.lag),
            task.why or ", ".join(task.partitions),
            task.location or UNKNOWN,
        )
        for task in sorted(run.tasks, key=by_trouble)
    ]
    yield from _section(
        ("TASK", "PROCESSOR", "STATE", "IN/S", "LAG", "READS, OR WHY NOT", "LOCATION"), rows, (3, 4)
    )


def _section(head: Sequence[str], rows: Sequence[Sequence[str]], numbers: Sequence[int]) -> Iterator[str]:
    if rows:
        yield ""
        yield from aligned_columns([head, *rows], numbers)
