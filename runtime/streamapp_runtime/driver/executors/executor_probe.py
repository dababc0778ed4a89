"""Asks executors that are waited for whether they are there, and has Spark replace those that do not answer.

An executor whose processes are stopped keeps its connections for as long as the kernel of its node
acknowledges what arrives. Spark waits for its heartbeats for two minutes, and counts by the driver's clock: a
driver that was stopped itself for as long would lose every executor. Here an executor is asked, only while
something is waited for, and time in which nobody looked does not count. The JVM answers, whatever the Python
workers beside it are at. One that is silent for a few seconds gets no lane until it answers; one that stays
silent is replaced.
"""

import logging
import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from py4j.protocol import Py4JError
from pyspark import SparkContext

from streamapp_runtime.driver.spark.scala_objects import field_of, sequence
from streamapp_runtime.driver.watch_thread import watching

PATIENCE_SECONDS: Final = 2.0
"""What is over sooner is not asked about."""
SILENT_SECONDS: Final = 3.0
"""An executor that has not answered for so long is silent: others go on without it."""
ANSWER_SECONDS: Final = 10.0
"""An executor that has not answered for so long is replaced."""
GONE_SECONDS: Final = 5.0
"""How long a cluster may take to say what became of an executor that Spark has no connection to."""
LOOK_SECONDS: Final = 0.5
"""How often who waits looks for answers."""
ASK_SECONDS: Final = 5.0
"""How long after an answer an executor is asked again."""
_FORGET_SECONDS: Final = 2.0
"""A question is forgotten when nobody has looked for its answer for so long."""
_QUESTION: Final = "org.apache.spark.storage.BlockManagerMessages$GetBlockStatus"
"""What an executor answers at once, from memory: here, that it does not have a block."""
_LOG: Final = logging.getLogger(__name__)


@dataclass(slots=True)
class _Question:
    """The last question to one executor."""

    asked_at: float
    answer: Any  # Spark's future; None where Spark has no connection to whom to ask
    looked_at: float
    waited_seconds: float = 0.0
    is_answered: bool = False

    def look(self, now: float) -> None:
        """Look for the answer; time in which nobody looked does not count."""
        self.is_answered = self.is_answered or (self.answer is not None and bool(self.answer.isCompleted()))
        self.waited_seconds += min(now - self.looked_at, 2 * LOOK_SECONDS)
        self.looked_at = now

    @property
    def is_silent(self) -> bool:
        """True if the executor has let others wait for too long."""
        return not self.is_answered and self.waited_seconds >= SILENT_SECONDS


class ExecutorProbe:
    """The questions to the executors of one session; any thread may look."""

    def __init__(self, context: SparkContext, answer_seconds: float = ANSWER_SECONDS) -> None:
        """Nobody has been asked yet."""
        self._context: Any = context
        self._answer_seconds = answer_seconds
        self._questions: dict[str, _Question] = {}  # by executor
        self._lock = threading.Lock()

    def look(self, executors: Collection[str], ask_seconds: float = ASK_SECONDS) -> frozenset[str]:
        """Ask these executors, take answers, and have those replaced that have been silent for too long.

        Those that are silent are looked at in any case: they come back, or are replaced. Gives those that
        do not answer now, and are not replaced yet.
        """
        with self._lock, suppress(Py4JError, OSError):  # Spark has ended, and so have they
            now = time.monotonic()
            self._questions = {
                name: question
                for name, question in self._questions.items()
                if question.is_silent or now - question.looked_at < _FORGET_SECONDS
            }
            for name in self._silent.union(executors):
                if self._is_over(name, now, ask_seconds):
                    self._replace(name, self._patience(self._questions.pop(name)))
        return self._silent

    def silent_executors(self) -> frozenset[str]:
        """The executors that do not answer now, and are not replaced yet."""
        return self.look(())

    def during(self, executors: Collection[str]) -> AbstractContextManager[None]:
        """Look while something else waits for these executors."""
        return self._looking(lambda: executors, PATIENCE_SECONDS, LOOK_SECONDS, ASK_SECONDS)

    def throughout(
        self, executors: Callable[[], Collection[str]], ask_seconds: float
    ) -> AbstractContextManager[None]:
        """Look at whichever executors there are: who needs them knows at once which of them answer."""
        return self._looking(executors, 2 * LOOK_SECONDS, 2 * LOOK_SECONDS, ask_seconds)

    @contextmanager
    def _looking(
        self,
        executors: Callable[[], Collection[str]],
        first_seconds: float,
        look_seconds: float,
        ask_seconds: float,
    ) -> Iterator[None]:
        """Look from a thread: first after so many seconds, then again and again."""

        def watch(done: threading.Event) -> None:
            seconds = first_seconds
            while not done.wait(seconds):
                with suppress(Py4JError, OSError):  # Spark has ended, and who needs it hears of that
                    self.look(executors(), ask_seconds)
                seconds = look_seconds

        with watching("executor-probe", watch):
            yield

    @property
    def _silent(self) -> frozenset[str]:
        """The executors whose last question is unanswered for too long."""
        return frozenset(name for name, question in list(self._questions.items()) if question.is_silent)

    def _is_over(self, executor: str, now: float, ask_seconds: float) -> bool:
        """True if an executor has left a question unanswered for too long; it is asked when it is time."""
        question = self._questions.get(executor)
        if question is None or (question.is_answered and now - question.asked_at >= ask_seconds):
            self._questions[executor] = _Question(now, self._ask(executor), now)
            return False
        if question.answer is None:
            question.answer = self._ask(executor)  # one that has just come answers a moment later
        question.look(now)
        return not question.is_answered and question.waited_seconds >= self._patience(question)

    def _patience(self, question: _Question) -> float:
        """The seconds that an answer may take."""
        return min(GONE_SECONDS, self._answer_seconds) if question.answer is None else self._answer_seconds

    def _ask(self, executor: str) -> Any:
        """The future of an answer; None where Spark has no connection to the executor, or none yet."""
        reached = self._block_managers.getExecutorEndpointRef(executor)
        return reached.get().ask(*self._question) if reached.isDefined() else None

    @cached_property
    def _jvm(self) -> Any:
        """The classes of the driver's JVM: Spark's Python asks and replaces no executor."""
        return self._context._jvm  # noqa: SLF001 - Spark has no other way

    @cached_property
    def _scala_context(self) -> Any:
        """The SparkContext of Scala."""
        return self._context._jsc.sc()  # noqa: SLF001 - Spark has no other way

    @cached_property
    def _block_managers(self) -> Any:
        """The block manager master, which knows where each executor answers.

        `SparkEnv` leads there too, but py4j cannot list its methods without the jars of Spark Connect.
        """
        return field_of(self._scala_context.dagScheduler(), "blockManagerMaster")

    @cached_property
    def _question(self) -> tuple[Any, Any]:
        """The question to each executor, and the class of the answer."""
        jvm, class_of = self._jvm, self._jvm.java.lang.Class.forName
        values = self._context._gateway.new_array(jvm.java.lang.Object, 2)  # noqa: SLF001 - py4j's own arrays
        values[0], values[1] = jvm.org.apache.spark.storage.TaskResultBlockId(0), False
        question = class_of(_QUESTION).getConstructors()[0].newInstance(values)
        return question, jvm.scala.reflect.ClassTag.apply(class_of("scala.Option"))

    def _replace(self, executor: str, seconds: float) -> None:
        """Have what runs on an executor fail, and another one come, as Spark does for want of heartbeats."""
        _LOG.warning("executor %s has not answered for %g s, and is replaced", executor, seconds)
        # As if the app were to blame: else Spark starts its tasks elsewhere, and the driver hears of nothing.
        reason = self._jvm.org.apache.spark.scheduler.ExecutorProcessLost(
            f"it has not answered for {seconds:g} s", self._jvm.scala.Option.empty(), True
        )
        backend = self._scala_context.schedulerBackend()
        backend.removeExecutor(executor, reason)
        # `killAndReplaceExecutor` ends no executor that is removed already: it would keep its place for ever.
        backend.doKillExecutors(sequence(self._jvm, [executor]))
