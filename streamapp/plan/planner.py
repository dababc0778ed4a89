"""Planning: from an app's graph and the counts its systems know to a plan, with all that is wrong in it."""

from collections.abc import Iterable, Mapping, Sequence

from streamapp.graph.nodes import Graph
from streamapp.graph.stages import stages
from streamapp.plan.counted_streams import CountedStreams, count_streams
from streamapp.plan.graph_changes import Hint
from streamapp.plan.group_counts import planned_joins
from streamapp.plan.hint_candidates import Changes, HintCandidates, Way
from streamapp.plan.join_mismatches import mismatches
from streamapp.plan.partition_plan import Mode, Plan, PlannedStream, Role

_MOST_HINTS = 3
_MOST_TRIALS = 200
_MOST_WORK = 15_000  # operators planned in all trials together: some tenths of a second
_MOST_PARTNERS = 6  # other failing joins that one is fixed together with


def tried_hints(
    graph: Graph, settings: Mapping[str, str], counts: CountedStreams
) -> dict[str, tuple[Hint, ...]]:
    """Up to three hints for each failing join, those that fix most first.

    What one change can do is tried for every join before any combination is.
    """
    hints: dict[str, tuple[Hint, ...]] = dict.fromkeys(counts.failing, ())
    if not hints:
        return hints
    trials = _Trials(graph, settings, counts)
    candidates = HintCandidates(graph, counts)
    for join in counts.failing:
        hints[join] = _single_steps(join, candidates, trials)
        if trials.are_used_up:
            return {name: known or trials.successful(name) for name, known in hints.items()}
    for join in [join for join, known in hints.items() if not known]:
        partners = [other for other in counts.failing if other != join][:_MOST_PARTNERS]
        hints[join] = trials.first(join, candidates.combinations(join, partners))
    if not any(hints.values()):
        whole = candidates.all_inputs_of(counts.failing)
        hints = {join: trials.first(join, [whole]) for join in counts.failing}
    return hints


def _single_steps(join: str, candidates: HintCandidates, trials: "_Trials") -> tuple[Hint, ...]:
    """Hints for the first count that the join's streams can be brought to."""
    for ways in candidates.ways_by_count(join):
        hints = trials.best(join, ways)
        if hints or trials.are_used_up:
            return hints
    return ()


class _Trials:
    """Changes planned with, each once, and no more of them than planning may take."""

    def __init__(self, graph: Graph, settings: Mapping[str, str], counts: CountedStreams) -> None:
        self._graph = graph
        self._settings = settings
        self._failing = frozenset(counts.failing)
        self._other_errors = counts.other_errors
        self._remaining = max(4, min(_MOST_TRIALS, _MOST_WORK // max(1, len(graph.operators))))
        self._left_failing: dict[Changes, frozenset[str] | None] = {}

    @property
    def are_used_up(self) -> bool:
        """True if nothing more can be tried."""
        return self._remaining <= 0

    def best(self, join: str, ways: Sequence[Way]) -> tuple[Hint, ...]:
        """The ways that fix the join and leave the fewest others failing, those of few changes first."""
        mends = [mend for way in ways if (mend := self._best_variant(join, way)) is not None]
        fewest = min((failing for failing, _ in mends), default=0)
        changes = dict.fromkeys(changes for failing, changes in mends if failing == fewest)
        return tuple(Hint(mend) for mend in sorted(changes, key=len)[:_MOST_HINTS])

    def first(self, join: str, combinations: Iterable[Changes]) -> tuple[Hint, ...]:
        """The first combination that fixes the join."""
        for changes in combinations:
            if self.are_used_up:
                break
            if self._mended(join, changes) is not None:
                return (Hint(changes),)
        return ()

    def successful(self, join: str) -> tuple[Hint, ...]:
        """The hint that was tried for another join and fixes this one too."""
        successes = [
            c for c, failing in self._left_failing.items() if failing is not None and join not in failing
        ]
        return tuple(Hint(changes) for changes in successes[:1])

    def _best_variant(self, join: str, way: Way) -> tuple[int, Changes] | None:
        mends = []
        for changes in way:
            failing = self._mended(join, changes)
            if failing is not None:
                mends.append((len(failing), changes))
            if failing == frozenset():
                break
        return min(mends, key=lambda mend: mend[0], default=None)

    def _mended(self, join: str, changes: Changes) -> frozenset[str] | None:
        """The joins that still fail after the changes, where this one does not and nothing else is worse."""
        if changes not in self._left_failing:
            self._left_failing[changes] = self._plan_with(changes) if changes else None
        failing = self._left_failing[changes]
        return None if failing is None or join in failing else failing

    def _plan_with(self, changes: Changes) -> frozenset[str] | None:
        if self.are_used_up:
            return None
        self._remaining -= 1
        counts = count_streams(Hint(changes).applied(self._graph), self._settings)
        failing = frozenset(counts.failing)
        return failing if failing < self._failing and counts.other_errors <= self._other_errors else None


def plan(graph: Graph, *, config: Mapping[str, str] | None = None, mode: Mode = Mode.STREAM) -> Plan:
    """Infer every count, then check every join; a graph that is wrong is planned as far as it goes."""
    settings = config or {}
    counts = count_streams(graph, settings)
    hints = tried_hints(graph, settings, counts)
    return Plan(
        mode=mode,
        streams=counts.streams,
        joins=tuple(planned_joins(graph, counts.groups, counts.counted)),
        components=counts.components,
        stages=stages(graph),
        broadcast_inputs=_broadcast_inputs(counts.streams),
        errors=(
            *counts.structure,
            *counts.unfounded,
            *mismatches(graph, counts.groups, counts.counted, hints),
            *counts.unresolved,
        ),
    )


def _broadcast_inputs(streams: Mapping[str, PlannedStream]) -> str:
    """The external streams that every task reads whole, as `system.stream#[0-63]`."""
    written = []
    for stream in streams.values():
        if stream.broadcast and stream.role is not Role.INTERMEDIATE and stream.partitions:
            last = stream.partitions - 1
            at = f"{stream.system}.{stream.name}" if stream.system else stream.name
            written.append(f"{at}#[0-{last}]" if last else f"{at}#0")
    return ",".join(sorted(written))
