"""Where Spark comes from when an expression needs it: a session that is there, or one that is opened then."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from pyspark.sql import SparkSession


@dataclass(frozen=True, slots=True)
class SparkOnDemand:
    """A session that nothing is paid for until an expression needs it."""

    open: Callable[[str], SparkSession]  # called with the text that needs it


@dataclass(slots=True)
class RecordedSpark:
    """What opens a session, and the texts that needed it, each once."""

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


SparkSource: TypeAlias = SparkSession | SparkOnDemand
"""A session, or what opens one."""


def spark_for(source: SparkSource, text: str) -> SparkSession:
    """The session, for a text that only Spark can judge or compute."""
    return source.open(text) if isinstance(source, SparkOnDemand) else source
