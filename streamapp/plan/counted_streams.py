"""Every stream of a graph with its count: what a plan shows, and what a hint is tried on."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from streamapp.graph.join_groups import JoinGroups, join_groups
from streamapp.graph.nodes import Graph, OperatorNode
from streamapp.graph.wiring import broadcast_streams
from streamapp.plan.agreement import Agreement, agree_counts
from streamapp.plan.count_reason import CountReason, CountSource
from streamapp.plan.given_counts import (
    PartitionCount,
    default_count,
    given_counts,
    missing_streams,
    requested_counts,
)
from streamapp.plan.graph_changes import Hint, PartitionsRequest
from streamapp.plan.group_counts import GroupCounts, group_counts
from streamapp.plan.join_mismatches import failing_joins
from streamapp.plan.partition_plan import PlanError, PlannedStream, Role
from streamapp.plan.structure_errors import structure_errors
from streamapp.spec.app_bounds import MOST_PARTITIONS
from streamapp.spec.reasons import Reason
from streamapp.spec.resource.config_keys import KEYS, PARTITIONS
from streamapp.spec.resource.operator_kinds import StreamUse


def count_errors(graph: Graph, config: Mapping[str, str]) -> Iterator[PlanError]:
    """Counts that are none, and counts asked for that contradict each other or what exists."""
    text = config.get(PARTITIONS)
    if text is not None and not KEYS[PARTITIONS].fits(text):
        allowed = KEYS[PARTITIONS].allowed
        yield PlanError(
            Reason.INVALID_CONFIG,
            None,
            (),
            f'{PARTITIONS} is "{text}", which is no partition count',
            f"set {PARTITIONS} to {allowed}, or remove it",
        )
    first: dict[str, OperatorNode] = {}
    for operator, stream, partitions in requested_counts(graph):
        asks = f"{operator.kind} {operator.name} asks for {partitions} partitions"
        if partitions < 1:
            yield _asks_wrongly(
                operator,
                stream,
                f"{asks} of stream {stream}, but a stream has at least one",
                "set partitions to a positive whole number, or leave it out",
                None,
            )
            continue
        known_stream = graph.streams.get(stream)
        existing = (known_stream.partitions or 0) if known_stream is not None else 0
        if existing > 0:  # what several ask for need not agree: each is measured by what exists
            if existing != partitions:
                yield _asks_wrongly(
                    operator,
                    stream,
                    f"{asks}, but stream {stream} exists with {existing}",
                    f"leave partitions out of {operator.name}, or set it to {existing}",
                    None,
                    existing,
                )
            continue
        earlier = first.setdefault(stream, operator)
        if earlier.partitions != partitions:
            yield _asks_wrongly(
                operator,
                stream,
                f"{asks} of stream {stream}, and {earlier.name} for {earlier.partitions} of the same stream",
                f"give both the same partitions, or leave it out in {operator.name}",
                earlier.partitions,
                None,
            )


def missing_error(graph: Graph, missing: Iterable[str]) -> Iterator[PlanError]:
    """One error that names every stream of unknown count."""
    names = tuple(missing)
    if names:
        plural = "streams" if len(names) > 1 else "stream"
        listed = ", ".join(_at(graph, name) for name in names)
        yield PlanError(
            Reason.MISSING_STREAM,
            None,
            tuple((name, None) for name in names),
            f"the partition count of the {plural} {listed} is unknown",
            f"create the {plural}, or correct system and topic where the app declares {_them(names)}",
        )


def unresolved_error(names: Iterable[str]) -> Iterator[PlanError]:
    """One error that names every intermediate stream to which nothing gives a count."""
    unresolved = tuple(names)
    if unresolved:
        listed = ", ".join(unresolved)
        yield PlanError(
            Reason.UNRESOLVED_PARTITIONS,
            None,
            tuple((name, None) for name in unresolved),
            f"nothing says how many partitions {listed} should have: no join imposes a count, "
            f"{PARTITIONS} is not set, and no input or output has a known count",
            f"set {PARTITIONS}, or give the partitionBy its own partitions",
        )


def bound_error(streams: Iterable[PlannedStream]) -> Iterator[PlanError]:
    """An error where the streams have more partitions together than one app may have."""
    counts = {stream.name: stream.partitions for stream in streams if stream.partitions}
    total = sum(counts.values())
    if total > MOST_PARTITIONS:
        largest = max(counts, key=lambda name: (counts[name], name))
        yield PlanError(
            Reason.TOO_MANY_PARTITIONS,
            None,
            ((largest, counts[largest]),),
            f"the streams have {total:,} partitions together, of which {largest} has {counts[largest]:,}; "
            f"one app may have {MOST_PARTITIONS:,}",
            "read fewer streams in this app, or streams with fewer partitions",
        )


def _asks_wrongly(
    operator: OperatorNode, stream: str, message: str, hint: str, *right_counts: int | None
) -> PlanError:
    about = ((stream, operator.partitions),)
    hints = tuple(Hint((PartitionsRequest((operator.name,), count),)) for count in right_counts)
    return PlanError(Reason.INVALID_CONFIG, operator.name, about, message, hint, hints)


def _at(graph: Graph, name: str) -> str:
    system = graph.streams[name].system
    return f"{name} (system {system})" if system else name


def _them(names: tuple[str, ...]) -> str:
    return "them" if len(names) > 1 else "it"


def stream_roles(graph: Graph) -> dict[str, Role]:
    """The role of every stream that the app uses, sorted by name; one that nothing uses has none."""
    created_streams: set[str] = set()
    inputs: set[str] = set()
    outputs: set[str] = set()
    for operator in graph.operators.values():
        if operator.stream is None:
            continue
        if operator.cuts:
            created_streams.add(operator.stream)
        elif operator.is_input:
            inputs.add(operator.stream)
        elif operator.traits.stream is StreamUse.WRITES:
            outputs.add(operator.stream)
    side_inputs = {name for table in graph.tables.values() for name in table.side_inputs}

    def role(name: str) -> Role:
        if name in created_streams:
            return Role.INTERMEDIATE
        if name in outputs:
            return Role.INPUT_OUTPUT if name in inputs or name in side_inputs else Role.OUTPUT
        return Role.INPUT if name in inputs else Role.SIDE_INPUT

    used = created_streams | ((inputs | outputs | side_inputs) & graph.streams.keys())
    return {name: role(name) for name in sorted(used)}


@dataclass(frozen=True, slots=True)
class CountedStreams:
    """The streams of a graph with their counts, the groups of its joins, and what is wrong."""

    streams: Mapping[str, PlannedStream]
    groups: JoinGroups
    components: tuple[tuple[str, ...], ...]
    counted: GroupCounts
    failing: tuple[str, ...]  # joins whose streams have different counts
    structure: Sequence[PlanError]
    unfounded: Sequence[PlanError]  # counts that are none, and streams without one
    unresolved: Sequence[PlanError]

    @property
    def other_errors(self) -> int:
        """The number of errors beside the joins that fail."""
        return len(self.structure) + len(self.unfounded) + len(self.unresolved)


def count_streams(graph: Graph, settings: Mapping[str, str]) -> CountedStreams:
    """Infer every count, and check every join with it."""
    role_of = stream_roles(graph)
    counts = given_counts(graph, role_of)
    missing = missing_streams(role_of, counts)
    groups = join_groups(graph)
    agreement = agree_counts(
        groups.without(missing), {name: count.partitions for name, count in counts.items()}
    )
    default = default_count(settings, role_of, counts)
    broadcast = broadcast_streams(graph)
    streams = {
        name: PlannedStream(
            name=name,
            partitions=count.partitions if count else None,
            role=role,
            system=graph.streams[name].system if name in graph.streams else "",
            because=count.because if count else CountReason(CountSource.UNKNOWN),
            broadcast=name in broadcast,
        )
        for name, role in role_of.items()
        for count in (_count(name, role, counts, agreement, default),)
    }
    counted = group_counts(groups, streams)
    unfounded = [
        *bound_error(streams.values()),
        *count_errors(graph, settings),
        *missing_error(graph, missing),
    ]
    # Beside a count that is wrong, one that nothing gives is only what follows from it.
    unresolved = [] if unfounded else [*unresolved_error(_without_count(streams))]
    return CountedStreams(
        streams=streams,
        groups=groups,
        components=agreement.components,
        counted=counted,
        failing=tuple(failing_joins(groups, counted)),
        structure=tuple(structure_errors(graph)),
        unfounded=unfounded,
        unresolved=unresolved,
    )


def _count(
    name: str,
    role: Role,
    counts: Mapping[str, PartitionCount],
    agreement: Agreement,
    default: PartitionCount | None,
) -> PartitionCount | None:
    if name in counts:
        return counts[name]
    if role is not Role.INTERMEDIATE:
        return None
    because = agreement.imposed.get(name)
    if because is not None and because.origin is not None:
        return PartitionCount(counts[because.origin].partitions, because)
    return default


def _without_count(streams: Mapping[str, PlannedStream]) -> Iterator[str]:
    for name, stream in streams.items():
        if stream.role is Role.INTERMEDIATE and stream.partitions is None:
            yield name
