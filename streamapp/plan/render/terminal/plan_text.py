"""A plan as text for a terminal: outcome, streams with reasons, the graph in order, errors with hints."""

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from streamapp.graph.nodes import Graph, OperatorNode
from streamapp.plan.partition_plan import Plan, PlanError, PlannedJoin, PlanOutcome
from streamapp.plan.render.diagram.error_highlights import deviating_streams
from streamapp.plan.render.diagram.partition_spread import (
    NO_SPREAD,
    Spreads,
    partition_spreads,
    reads_table,
    writes_table,
)
from streamapp.plan.render.terminal.stage_tree import TreeLine, stage_lines
from streamapp.plan.render.wording import (
    ROLES,
    display_width,
    field_place,
    legible,
    listed,
    outcome_text,
    partitions,
    summary,
)
from streamapp.spec.reasons import Reason


@dataclass(frozen=True, slots=True)
class Paint:
    """Colours a text where `on`. Texts are padded before they are painted: escapes take no room."""

    on: bool

    def bold(self, text: str) -> str:
        """For headings and names."""
        return self._with("1", text)

    def dim(self, text: str) -> str:
        """For secondary text."""
        return self._with("2", text)

    def good(self, text: str) -> str:
        """For counts that agree."""
        return self._with("32", text)

    def bad(self, text: str) -> str:
        """For errors."""
        return self._with("1;31", text)

    def _with(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.on and text else text


_WIDTH = 100
_NAMES_UP_TO = 44  # a longer name pushes its own line out, not all others
_GROUP_SHOWN = 8


def render(name: str, graph: Graph, plan: Plan, colour: bool = False) -> str:
    """The plan in about a hundred columns; `colour` is for terminals only."""
    paint = Paint(colour)
    lines = [*_head(name, graph, plan, paint)]
    if plan.streams:
        lines += ["", paint.bold("Streams"), *_streams(plan, paint)]
    if plan.stages:
        lines += ["", paint.bold("Graph"), *_graph(graph, plan, paint)]
    if plan.notes:
        lines += ["", paint.bold("Notes")]
        lines += [line for note in plan.notes for line in _wrapped(note, "  ", "    ")]
    if plan.errors:
        lines += ["", paint.bold("Errors"), *_errors(plan.errors, paint)]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _head(name: str, graph: Graph, plan: Plan, paint: Paint) -> Iterator[str]:
    mark = paint.good if plan.outcome is PlanOutcome.ACCEPTED else paint.bad
    yield f"{paint.bold(legible(name))}  {mark(outcome_text(plan))}"
    yield paint.dim(summary(graph, plan))


def _streams(plan: Plan, paint: Paint) -> Iterator[str]:
    rows = [("name", "partitions", "role", "system", "source")]
    for stream in plan.streams.values():
        count = "?" if stream.partitions is None else str(stream.partitions)
        because = f"{stream.because.sentence}{'; whole to every task' if stream.broadcast else ''}"
        rows.append(
            (legible(stream.name), count, ROLES[stream.role], legible(stream.system) or "-", legible(because))
        )
    widths = [_widest([row[column] for row in rows]) for column in range(4)]
    deviating = {legible(stream) for error in plan.errors for stream in deviating_streams(error)}
    for number, (name, count, role, system, because) in enumerate(rows):
        left = f"{_padded(name, widths[0])}  {count:>{widths[1]}}"
        cells = f"{left}  {_padded(role, widths[2])}  {_padded(system, widths[3])}"
        if not number:
            yield paint.dim(f"  {cells}  {because}")
        else:
            yield f"  {paint.bad(cells) if name in deviating else cells}  {paint.dim(because)}"


def _graph(graph: Graph, plan: Plan, paint: Paint) -> Iterator[str]:
    spread = partition_spreads(graph, plan)
    joins = {join.operator: join for join in plan.joins}
    mismatched = {
        error.operator: error for error in plan.errors if error.reason is Reason.JOIN_PARTITION_MISMATCH
    }
    stage_lines_text = [
        [_line_text(graph, line, spread) for line in stage_lines(graph, stage)] for stage in plan.stages
    ]
    left_width = _widest([line_text.left for stage in stage_lines_text for line_text in stage])
    for number, stage in enumerate(stage_lines_text, start=1):
        yield paint.dim(f"  stage {number}")
        for line_text in stage:
            operator = line_text.line.key.name if line_text.line.key.of == "operator" else None
            error = mismatched.get(operator) if operator else None
            text = f"    {_padded(line_text.left, left_width)}  {line_text.count:>5}"
            remarks = _agreement_text(joins[operator], error, paint) if operator in joins else []
            remarks += [paint.dim(line_text.notes)] if line_text.notes else []
            yield "  ".join([paint.bad(text) if error else text, *remarks])
            if error:
                yield from (
                    f"    {line_text.line.below}{paint.bad(counts_line)}"
                    for counts_line in _streams_by_count(error)
                )


@dataclass(frozen=True, slots=True)
class _LineText:
    """The text of one line of the graph, before padding."""

    line: TreeLine
    left: str
    count: str
    notes: str


def _line_text(graph: Graph, line: TreeLine, spread: Spreads) -> _LineText:
    name = legible(line.key.name)
    if line.key.of == "operator":
        operator = graph.operators[line.key.name]
        count, notes = spread.operators[operator.name].label, _notes(graph, line, operator, spread)
        return _LineText(line, f"{line.branch}{operator.kind} {name}", count, notes)
    filled_tables = [
        table for table in sorted(graph.tables) if line.key.name in graph.tables[table].side_inputs
    ]
    notes = f"→ table {', '.join(map(legible, filled_tables))}" if filled_tables else ""
    return _LineText(line, f"{line.branch}{name}", spread.streams.get(line.key.name, NO_SPREAD).label, notes)


def _notes(graph: Graph, line: TreeLine, operator: OperatorNode, spread: Spreads) -> str:
    notes = [f"with {', '.join(map(legible, line.others))}"] if line.others and line.branch else []
    for table in operator.tables:
        label = spread.tables.get(table, NO_SPREAD).label
        if reads_table(operator, table):
            notes.append(f"table {legible(table)}{f' ({label})' if label else ''}")
        if writes_table(operator, table):
            notes.append(f"→ table {legible(table)}")
    if operator.stream is not None and not operator.is_input:
        label = spread.streams.get(operator.stream, NO_SPREAD).label or "?"
        notes.append(f"→ {legible(operator.stream)} ({label})")
    return "  ".join(notes)


def _agreement_text(join: PlannedJoin, error: PlanError | None, paint: Paint) -> list[str]:
    if error:
        return [paint.bad("✗ partition counts differ")]
    if join.partitions is None:
        return ["? not all counts known"]
    if len(join.streams) < 2:
        return []  # a stream agrees with itself
    return [paint.good(f"✓ {len(join.streams)} streams of {join.partitions}")]


def _streams_by_count(error: PlanError) -> Iterator[str]:
    counts: dict[int | None, list[str]] = {}
    for name, count in error.streams:
        counts.setdefault(count, []).append(legible(name))
    for count, names in sorted(counts.items(), key=lambda entry: entry[0] or 0):
        yield f"✗ {partitions(count)}: {listed(names, _GROUP_SHOWN)}"


def _errors(errors: Sequence[PlanError], paint: Paint) -> Iterator[str]:
    for error in errors:
        about = f"  {paint.bold(legible(error.operator))}" if error.operator else ""
        yield f"  {paint.bad(f'✗ {error.reason}')}{about}"
        yield from _wrapped(field_place(error), "    ", "    ")
        yield from _wrapped(error.message, "    ", "    ")
        yield from _wrapped(error.hint, "    → ", "      ")


def _wrapped(text: str, first_indent: str, indent: str) -> list[str]:
    return textwrap.wrap(
        legible(text),
        _WIDTH,
        initial_indent=first_indent,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _widest(cells: Sequence[str]) -> int:
    return max((display_width(cell) for cell in cells if display_width(cell) <= _NAMES_UP_TO), default=0)


def _padded(text: str, width: int) -> str:
    return text + " " * (width - display_width(text))
