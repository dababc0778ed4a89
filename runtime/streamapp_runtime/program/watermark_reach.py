"""The streams whose rows reach a place of the program, and how far behind their watermarks they come.

What is late at a place, and what is complete there, follows from the watermarks of these streams alone.
Rows do not pass through a table: who fills it says nothing about the rows that look something up in it.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from streamapp_runtime.operators.state.event_clock import WatermarkReach
from streamapp_runtime.operators.stateless.stream_operations import MADE_BY_APP, Read, StreamRole, Write
from streamapp_runtime.program.program import Program


@dataclass(frozen=True, slots=True)
class ProgramReach:
    """The same for the whole program."""

    writes: Mapping[str, WatermarkReach]  # by stream that the app makes
    states: Mapping[str, WatermarkReach]  # by operator with windows, or with rows that wait for others
    timed: frozenset[str]  # the streams that have event times


def program_reach(program: Program, fed_back: Collection[str] = ()) -> ProgramReach:
    """The streams that reach every place at which time matters.

    A stream that is fed back gives rows their times and holds nobody back: it waits itself for what it feeds.
    """
    return _Walk(program, fed_back).all()


class _Walk:
    def __init__(self, program: Program, fed_back: Collection[str]) -> None:
        self.operations = {task.name: task.operation for task in program.tasks}
        self.sources: dict[str, list[str]] = {}
        for edge in program.edges:
            self.sources.setdefault(edge.consumer, []).append(edge.producer)
        self.leaving: dict[str, dict[str, int]] = {}
        self.writes = {
            operation.stream: self._coming(name)
            for name, operation in self.operations.items()
            if isinstance(operation, Write) and operation.role in MADE_BY_APP
        }
        reads = [o for o in self.operations.values() if isinstance(o, Read) and o.role not in MADE_BY_APP]
        self.timed = {read.stream for read in reads if read.event_time is not None or read.control}
        self.timed -= set(fed_back)
        for _ in self.writes:  # at least one more stream is known to be timed in each round that finds any
            self.timed |= {stream for stream, holds in self.writes.items() if self.timed & holds.keys()}

    def all(self) -> ProgramReach:
        states = {
            state: self._reach(self._coming(name))
            for name, operation in self.operations.items()
            if (state := operation.own_state()) is not None and operation.event_time_use() is not None
        }
        writes = {stream: self._reach(holds) for stream, holds in self.writes.items()}
        return ProgramReach(writes, states, frozenset(self.timed))

    def _reach(self, holds: Mapping[str, int]) -> WatermarkReach:
        return WatermarkReach(dict(sorted(holds.items())), bool(self.timed & holds.keys()))

    def _coming(self, piece: str) -> dict[str, int]:
        """The holds that come to a piece: of each stream the longest hold on any way."""
        holds: dict[str, int] = {}
        for source in self.sources.get(piece, ()):
            for stream, hold in self._leaving(source).items():
                holds[stream] = max(hold, holds.get(stream, 0))
        return holds

    def _leaving(self, piece: str) -> dict[str, int]:
        if piece not in self.leaving:
            operation = self.operations.get(piece)
            if isinstance(operation, Read):
                self.leaving[piece] = {} if operation.role is StreamRole.SIDE_INPUT else {operation.stream: 0}
            else:
                use = operation.event_time_use() if operation is not None else None  # None: Spark SQL
                longer = use.hold_back_ms if use is not None else 0
                self.leaving[piece] = {s: hold + longer for s, hold in self._coming(piece).items()}
        return self.leaving[piece]
