"""Refusals of counts: those that are none, are unknown, contradict each other, or are given by nothing."""

from collections.abc import Iterable, Iterator, Mapping

from streamapp.graph.nodes import Graph, OperatorNode
from streamapp.plan.given_counts import requested_counts
from streamapp.plan.graph_changes import Hint, PartitionsRequest
from streamapp.plan.partition_plan import PlanError, PlannedStream
from streamapp.spec.app_bounds import MOST_PARTITIONS
from streamapp.spec.reasons import Reason
from streamapp.spec.resource.config_keys import KEYS, PARTITIONS


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
