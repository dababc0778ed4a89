"""The streams that belong to an app, and where each of them lies."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

from streamapp.author.names import checkpoint_stream, import_stream, outbox_stream
from streamapp.graph.graph_builder import build_graph
from streamapp.plan.partition_plan import Plan, PlanError
from streamapp.spec.problem import short
from streamapp.spec.reasons import Reason
from streamapp.spec.resource.app import StreamApp


def is_embedded(app: StreamApp) -> bool:
    """True if any of the app's streams are in an embedded log, which one process alone can open."""
    return any(system.embedded is not None for system in app.spec.systems)


def declared_topics(app: StreamApp, system: str | None = None) -> dict[str, str]:
    """Each stream that the app declares, with its name in the system; of one system, or of all."""
    return {
        stream.name: stream.topic or stream.name
        for stream in app.spec.streams
        if system is None or stream.system == system
    }


def created_streams(app: StreamApp) -> tuple[str, ...]:
    """The intermediate streams that the app makes, by name."""
    operators = build_graph(app, {}).operators.values()
    return tuple(sorted({one.stream for one in operators if one.cuts and one.stream}))


def written_streams(app: StreamApp) -> tuple[str, ...]:
    """The declared streams that the app writes: outputs, dead letters and late rows."""
    spec = app.spec
    named = [operator.send_to.stream for operator in spec.operators if operator.send_to is not None]
    named += filter(None, (spec.on_bad_record.stream, spec.on_code_error.stream, spec.late_rows.stream))
    return tuple(dict.fromkeys(named))


def table_streams(app: StreamApp) -> frozenset[str]:
    """The streams that are tables: rows are written there in one partition, or imported from there."""
    systems = {system.name for system in app.spec.systems if system.has_tables}
    return frozenset(stream.name for stream in app.spec.streams if stream.system in systems)


def input_streams(app: StreamApp) -> frozenset[str]:
    """The sources of operators, and the streams that fill tables."""
    sources = {source for operator in app.spec.operators for source in operator.sources}
    return frozenset(sources | {side.stream for table in app.spec.tables for side in table.side_inputs})


def main_inputs(app: StreamApp) -> frozenset[str]:
    """The declared streams that operators read."""
    sources = {source for operator in app.spec.operators for source in operator.sources}
    return frozenset(stream.name for stream in app.spec.streams if stream.name in sources)


def table_partitions(app: StreamApp) -> dict[str, int]:
    """The partitions of each stream that is a table."""
    return {name: app.spec.stream(name).partitions or 1 for name in table_streams(app)}


def imports(app: StreamApp) -> dict[str, str]:
    """The stream in the home that takes the rows of each table that the app reads."""
    read = sorted(table_streams(app) & input_streams(app))
    return {name: import_stream(app.application_id, name) for name in read}


def outboxes(app: StreamApp) -> dict[str, str]:
    """The outbox in the home of each stream that the app writes in another system."""
    home = app.spec.home.name
    return {
        stream: outbox_stream(app.application_id, stream)
        for stream in written_streams(app)
        if app.spec.stream(stream).system != home
    }


def topics_of_system(app: StreamApp, index: int) -> dict[str, str]:
    """Every stream of the app in its system of this index, with its name there.

    What the app makes, its checkpoints too, is in its home.
    """
    system = app.spec.systems[index]
    declared = declared_topics(app, system.name)
    if system is not app.spec.home:
        return declared
    created_names = (*created_streams(app), checkpoint_stream(app.application_id))
    return declared | {name: name for name in created_names}


@dataclass(frozen=True, slots=True)
class InputRoles:
    """The streams that an app reads: those that fill tables, and the others."""

    side_inputs: tuple[str, ...]
    inputs: tuple[str, ...]
    written: frozenset[str]

    @classmethod
    def of(cls, app: StreamApp) -> "InputRoles":
        """Those of an app."""
        graph = build_graph(app, {})
        side_inputs = dict.fromkeys(name for table in graph.tables.values() for name in table.side_inputs)
        inputs = dict.fromkeys(one.stream for one in graph.operators.values() if one.is_input and one.stream)
        sinks = [one for one in graph.operators.values() if not (one.is_input or one.cuts)]
        return cls(
            tuple(side_inputs),
            tuple(name for name in inputs if name not in side_inputs),
            frozenset(one.stream for one in sinks if one.stream),
        )

    @property
    def outputs(self) -> tuple[str, ...]:
        """The streams that it writes."""
        return tuple(sorted(self.written))


def with_partitions_to_say(app: StreamApp, planned: Plan) -> Plan:
    """The plan whose errors say how many partitions a table that is read has to have for a join."""
    return replace(
        planned, errors=tuple(_with_partitions_to_say(error, imports(app)) for error in planned.errors)
    )


def _with_partitions_to_say(error: PlanError, imported: Collection[str]) -> PlanError:
    tables = [name for name, _ in error.streams if name in imported]
    counts = {count for name, count in error.streams if name not in imported}
    if error.reason is not Reason.JOIN_PARTITION_MISMATCH or not tables or len(counts) != 1:
        return error
    return replace(error, hint=f"say partitions: {counts.pop()} of stream {tables[0]}; or {error.hint}")


def missing_streams_by_system(app: StreamApp, planned: Plan, asked: Collection[str]) -> Plan:
    """The plan whose errors say where each of the streams that were asked for does not exist."""
    errors = (error for each in planned.errors for error in _error_of_each_system(app, each, asked))
    return replace(planned, errors=tuple(errors))


def _error_of_each_system(app: StreamApp, error: PlanError, asked: Collection[str]) -> Iterator[PlanError]:
    names = [name for name, _ in error.streams]
    if error.reason is not Reason.MISSING_STREAM or not set(names) <= set(asked):
        yield error
        return
    for system in app.spec.systems:
        streams = [
            stream for stream in app.spec.streams if stream.name in names and stream.system == system.name
        ]
        if not streams:
            continue
        if system.kafka is not None:
            noun, place = "topic", f"on {short(system.kafka.bootstrap_servers)}"
            listed = _listed([stream.topic or stream.name for stream in streams])
            hint = "create {it}, or correct topic and system where the app declares {it}"
        else:
            noun, place = "stream", "in the embedded log"
            listed = _listed([stream.name for stream in streams])
            hint = f"write the first rows, as with `streamapp log write APP {streams[0].name} FILE`"
        several = len(streams) > 1
        yield replace(
            error,
            streams=tuple((stream.name, None) for stream in streams),
            message=f"{noun}{'s' * several} {listed} {'do' if several else 'does'} not exist {place}",
            hint=hint.format(it="them" if several else "it"),
            path="" if several else f"spec.streams[{app.spec.streams.index(streams[0])}]",
        )


def _listed(names: list[str]) -> str:
    return ", ".join(f'"{short(name)}"' for name in names)
