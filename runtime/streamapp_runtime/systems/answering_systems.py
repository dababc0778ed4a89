"""The systems of an app's inputs that answer: one beside the home that does not is left out until it does.

The driver looks at all inputs in one step, and a client may wait for many seconds for brokers that are out of
reach. So a system that has failed once is asked in a thread of its own, by a client of its own, until it
answers.
"""

import threading
import time
from collections.abc import Callable, Collection
from concurrent.futures import Future
from contextlib import closing
from dataclasses import dataclass, field
from typing import Final

from streamapp.plan.render.wording import listed
from streamapp.tasks.partition import OffsetSpan, Partition
from streamapp_runtime.systems.app_systems import Systems
from streamapp_runtime.systems.connection import SystemConnections
from streamapp_runtime.systems.stream_system import DeniedError, FullError, UnavailableError

PROBE_SECONDS: Final = 1.0
"""How long a system is left alone after it did not answer."""
_MOST_NAMED: Final = 3


@dataclass(frozen=True, slots=True)
class SilentSystem:
    """A system that does not answer while the others do, and the streams that are not read for it."""

    name: str
    streams: tuple[str, ...]
    reason: str

    def __str__(self) -> str:
        streams = listed(self.streams, _MOST_NAMED)
        return f"the system {self.name} does not answer, and nothing is read of {streams}: {self.reason}"


@dataclass(slots=True)
class _Probe:
    """The question to a silent system whether it answers by now."""

    silent: SilentSystem
    since: float
    failed_at: float
    answer: Future[None] | None = None


@dataclass(slots=True)
class AnsweringSystems:
    """Looks at inputs: what is in a system that does not answer is left out, and tried again by itself."""

    systems: Systems
    changed: Callable[[tuple[SilentSystem, ...]], None] = lambda _: None  # called with those that are silent
    clock: Callable[[], float] = time.monotonic
    _probes: dict[str, _Probe] = field(default_factory=dict)  # by system

    @property
    def silent(self) -> tuple[SilentSystem, ...]:
        """The systems that did not answer the last look."""
        return tuple(probe.silent for probe in self._probes.values())

    @property
    def silent_seconds(self) -> float:
        """The seconds for which the system that has been silent for longest has not answered."""
        return max((self.clock() - probe.since for probe in self._probes.values()), default=0.0)

    def spans(self, partitions: Collection[Partition]) -> dict[Partition, OffsetSpan]:
        """The offsets of those of these partitions whose systems answer; the home has to."""
        before, connections = self.silent, self.systems.connections
        spans: dict[Partition, OffsetSpan] = {}
        by_system: dict[str, list[Partition]] = {}
        for partition in partitions:
            by_system.setdefault(connections.location(partition.stream).system, []).append(partition)
        for name, of_system in by_system.items():
            if name in self._probes and not self._answers(self._probes[name], of_system):
                continue
            try:
                spans |= self.systems.spans(of_system)
            except UnavailableError as error:
                if name == connections.home or isinstance(error, DeniedError | FullError):
                    raise
                streams = tuple(sorted({partition.stream for partition in of_system}))
                self._probes[name] = _Probe(
                    SilentSystem(name, streams, str(error)), self.clock(), self.clock()
                )
                self.systems.silent[name] = str(error)
        if self.silent != before:
            self.changed(self.silent)
        return spans

    def _answers(self, probe: _Probe, partitions: Collection[Partition]) -> bool:
        """True if a silent system has answered since; if not, and nobody asks it, it is asked again."""
        if probe.answer is None:
            if self.clock() - probe.failed_at >= PROBE_SECONDS:
                probe.answer = _ask(self.systems.connections, partitions)
            return False
        if not probe.answer.done():
            return False
        if isinstance(probe.answer.exception(), UnavailableError):
            probe.answer, probe.failed_at = None, self.clock()
            return False
        del self._probes[probe.silent.name], self.systems.silent[probe.silent.name]
        return True


def silent_systems_text(systems: Collection[SilentSystem]) -> str:
    """Which systems do not answer, and what goes on."""
    return f"{'; '.join(map(str, systems))}; all other streams are read"


def _ask(connections: SystemConnections, partitions: Collection[Partition]) -> Future[None]:
    """Ask a system in a thread, which ends with the answer: nothing else ends the wait of a client."""
    answer = Future[None]()

    def ask() -> None:
        try:
            with closing(Systems(connections)) as systems:
                systems.spans(partitions)
        except Exception as error:
            answer.set_exception(error)  # any other than UnavailableError is raised by the next look
        else:
            answer.set_result(None)

    threading.Thread(target=ask, name="silent-system", daemon=True).start()
    return answer
