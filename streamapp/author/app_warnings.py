"""Likely slips of an app: nothing is refused for them, and a check and a plan say so."""

from collections.abc import Iterator

from streamapp.spec.problem import Problem, short
from streamapp.spec.reasons import Reason
from streamapp.spec.resource.app import StreamApp
from streamapp.spec.resource.operator_kinds import OperatorKind, StreamUse, traits_of
from streamapp.tasks.groupers.grouper import SINGLE_TASK

_EFFECTS_BEYOND_ROWS = frozenset({OperatorKind.PROCESS})
"""What may be there for what it writes elsewhere, though nobody reads its rows."""
_MEETS_IN_ONE_TASK = frozenset({OperatorKind.JOIN, OperatorKind.PARTITION_BY})
"""What has rows of streams that tasks divide, though one of its sources is whole to every task."""
_WRITING = frozenset({StreamUse.WRITES, StreamUse.REPARTITIONS, StreamUse.BROADCASTS})


def app_warnings(app: StreamApp) -> tuple[Problem, ...]:
    """All that is likely a slip: rows that go nowhere or several times, parts that nothing uses."""
    unused_parts = (*_dead_ends(app), *_unused_tables(app), *_unused_streams(app))
    warnings = [Problem(0, 0, path, message, Reason.UNUSED_PART) for path, message in unused_parts]
    repeated_rows = [Problem(0, 0, path, message, Reason.REPEATED_ROWS) for path, message in _repeats(app)]
    return (*warnings, *repeated_rows)


def _repeats(app: StreamApp) -> Iterator[tuple[str, str]]:
    """Operators that write rows which every task has, so that each task writes them all."""
    if app.spec.grouper == SINGLE_TASK.name:
        return
    whole_sources = {name for name in app.spec.broadcast_inputs if "#" not in name}
    whole_sources |= {
        operator.name for operator in app.spec.operators if operator.kind == OperatorKind.BROADCAST
    }
    known_sources = -1
    while known_sources < len(whole_sources):
        known_sources = len(whole_sources)
        whole_sources |= {
            operator.name
            for operator in app.spec.operators
            if operator.kind not in _MEETS_IN_ONE_TASK and not whole_sources.isdisjoint(operator.sources)
        }
    for index, operator in enumerate(app.spec.operators):
        whole = sorted(whole_sources.intersection(operator.sources))
        if whole and traits_of(operator).stream in _WRITING:
            yield (
                f"spec.operators[{index}].{operator.kind}",
                f'every task has all rows of "{short(whole[0])}" and writes them, so that each comes once '
                "per task; take the rows from before the broadcast, or join them with rows that tasks divide",
            )


def _dead_ends(app: StreamApp) -> Iterator[tuple[str, str]]:
    """Operators that only hand on rows, to nobody. What makes a stream may be read by another app."""
    sources = {source for operator in app.spec.operators for source in operator.sources}
    for index, operator in enumerate(app.spec.operators):
        traits = traits_of(operator)
        hands_on_only = traits.hands_on_rows and not traits.makes_stream
        if hands_on_only and operator.kind not in _EFFECTS_BEYOND_ROWS and operator.name not in sources:
            yield (
                f"spec.operators[{index}].{operator.kind}",
                f'the rows of "{short(operator.name)}" go nowhere: no operator reads it; '
                "send them to a stream or a table, or take it away",
            )


def _unused_tables(app: StreamApp) -> Iterator[tuple[str, str]]:
    used_tables = {table for operator in app.spec.operators for table in operator.tables}
    for index, table in enumerate(app.spec.tables):
        if table.name not in used_tables:
            message = f'no operator uses the table "{short(table.name)}"; join with it, or take it away'
            yield f"spec.tables[{index}]", message


def _unused_streams(app: StreamApp) -> Iterator[tuple[str, str]]:
    spec = app.spec
    used_streams = {source for operator in spec.operators for source in operator.sources}
    used_streams |= {operator.stream for operator in spec.operators if operator.stream is not None}
    used_streams |= {side.stream for table in spec.tables for side in table.side_inputs}
    policies = (spec.on_bad_record, spec.on_code_error, spec.late_rows)
    used_streams |= {policy.stream for policy in policies if policy.stream is not None}
    for index, stream in enumerate(spec.streams):
        if stream.name not in used_streams:
            message = f'nothing reads or writes the stream "{short(stream.name)}"; use it, or take it away'
            yield f"spec.streams[{index}]", message
