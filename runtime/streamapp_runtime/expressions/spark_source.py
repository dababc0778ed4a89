"""The source of Spark's SQL session when something needs one: it is there, or it is opened then."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from pyspark import SparkContext
from pyspark.sql import SparkSession


@dataclass(frozen=True, slots=True)
class SparkOnDemand:
    """A session that nothing is paid for until an expression needs it."""

    open: Callable[[str], SparkSession]  # called with the text that needs it


@dataclass(slots=True)
class DeferredSession:
    """Spark's context, which runs jobs, and a SQL session once something needs one.

    A session takes more CPU seconds than all else of a start, and lanes that are all Python need none.
    """

    context: SparkContext
    _session: SparkSession | None = field(default=None, init=False)

    def open(self, _text: str = "") -> SparkSession:
        """The session, for a text that only Spark can judge or compute."""
        if self._session is None:
            self._session = SparkSession.builder.getOrCreate()  # of the context that there is
        return self._session

    def stop(self) -> None:
        """End Spark."""
        (self._session or self.context).stop()


@dataclass(slots=True)
class RecordedSpark:
    """The function that opens a session, and the texts that needed one, each once."""

    session: Callable[[], SparkSession]
    notice: Callable[[str], None] = lambda _: None  # called with the first text, before a session is opened
    texts: list[str] = field(default_factory=list, init=False)

    def open(self, text: str) -> SparkSession:
        """The session, for a text that only Spark can judge or compute."""
        if text and text not in self.texts:
            if not self.texts:
                self.notice(text)
            self.texts.append(text)
        return self.session()


SparkSource: TypeAlias = SparkSession | DeferredSession | SparkOnDemand
"""A session, or what opens one."""


def spark_for(source: SparkSource, text: str) -> SparkSession:
    """The session, for a text that only Spark can judge or compute."""
    return source if isinstance(source, SparkSession) else source.open(text)
