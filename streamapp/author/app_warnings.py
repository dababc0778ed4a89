"""What an app names and does not use: nothing is refused for it, and a check and a plan say so."""

from collections.abc import Iterator

from streamapp.spec.problem import Problem, short
from streamapp.spec.reasons import Reason
from streamapp.spec.resource.app import StreamApp
from streamapp.spec.resource.operator_kinds import OperatorKind, traits_of

_EFFECTS_BEYOND_ROWS = frozenset({OperatorKind.PROCESS})
"""What may be there for what it writes elsewhere, though nobody reads its rows."""


def app_warnings(app: StreamApp) -> tuple[Problem, ...]:
    """All that is likely a slip: rows that go nowhere, tables and streams that nothing uses."""
    warnings = (*_dead_ends(app), *_unused_tables(app), *_unused_streams(app))
    return tuple(Problem(0, 0, path, message, Reason.UNUSED_PART) for path, message in warnings)


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
