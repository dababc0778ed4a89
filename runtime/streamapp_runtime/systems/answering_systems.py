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
from streamapp_runtime.systems.stream_system import is_outage

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

    def spans(self, systems: Systems, partitions: Collection[Partition]) -> dict[Partition, OffsetSpan]:
        """The offsets of those of these partitions whose systems answer; the home has to."""
        before, now = self.silent, self.clock()
        for name in [*self._probes]:
            if self._answers(self._probes[name], systems.connections, partitions):
                del self._probes[name], systems.silent[name]
        spans, outages = systems.available_spans(partitions)
        for name in outages.keys() - self._probes.keys():
            reason = str(outages[name])
            streams = {one.stream for one in _of_system(systems.connections, name, partitions)}
            self._probes[name] = _Probe(SilentSystem(name, tuple(sorted(streams)), reason), now, now)
            systems.silent[name] = reason
        if self.silent != before:
            self.changed(self.silent)
        return spans

    def _answers(
        self, probe: _Probe, connections: SystemConnections, partitions: Collection[Partition]
    ) -> bool:
        """True if a silent system has answered since; if not, and nobody asks it, it is asked again."""
        if probe.answer is None:
            if self.clock() - probe.failed_at >= PROBE_SECONDS:
                probe.answer = _ask(connections, _of_system(connections, probe.silent.name, partitions))
            return False
        if not probe.answer.done():
            return False
        if is_outage(probe.answer.exception()):
            probe.answer, probe.failed_at = None, self.clock()
            return False
        return True


def silent_systems_text(systems: Collection[SilentSystem]) -> str:
    """The systems that do not answer, and what goes on."""
    return f"{'; '.join(map(str, systems))}; all other streams are read"


def _of_system(
    connections: SystemConnections, name: str, partitions: Collection[Partition]
) -> list[Partition]:
    return [partition for partition in partitions if connections.location(partition.stream).system == name]


def _ask(connections: SystemConnections, partitions: Collection[Partition]) -> Future[None]:
    """Ask a system in a thread, which ends with the answer: nothing else ends the wait of a client."""
    answer = Future[None]()

    def ask() -> None:
        try:
            with closing(Systems(connections)) as systems:
                systems.spans(partitions)
        except Exception as error:
            answer.set_exception(error)  # what is no outage is raised by the next look
        else:
            answer.set_result(None)

    threading.Thread(target=ask, name="silent-system", daemon=True).start()
    return answer
