"""The JVM in which Spark reads expressions when something needs it: it is there, or it is started then."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, TypeAlias

from pyspark import SparkContext

from streamapp_runtime.expressions.spark_messages import message_of

_OF_SQL = "spark.sql."

SyntaxTree: TypeAlias = Mapping[str, Any]
"""A node of Spark's tree of an expression: its kind, its names, its place in the text, and its children."""


class TextRefusedError(Exception):
    """Spark cannot read a text; the message has its words."""


@dataclass(frozen=True, slots=True)
class AnalysedQuery:
    """The columns of a query by Spark's own JSON, and the plan that makes them."""

    schema: str
    nodes: frozenset[str]
    is_deterministic: bool


@dataclass(frozen=True, slots=True)
class SparkJvm:
    """A JVM with Spark's classes, and the settings of SQL by which expressions are read there."""

    view: Any  # of py4j
    sql_settings: str  # as JSON

    @classmethod
    def of_settings(cls, view: Any, settings: Iterable[tuple[str, str]]) -> "SparkJvm":
        """A JVM whose settings of SQL are among these."""
        return cls(view, json.dumps({key: value for key, value in settings if key.startswith(_OF_SQL)}))

    def parsed(self, select_list: str) -> Sequence[SyntaxTree] | None:
        """The trees of the entries of a select list; None where the text is more than one."""
        return self._answer("parsed", select_list).get("entries")

    def analysed(self, query: str) -> AnalysedQuery:
        """The columns of a query over no table."""
        answer = self._answer("analyzed", query)
        return AnalysedQuery(answer["schema"], frozenset(answer["nodes"]), answer["deterministic"])

    def _answer(self, question: str, text: str) -> Mapping[str, Any]:
        """The answer of Spark's analyser; TextRefusedError where it refuses the text."""
        analyser = self.view.org.apache.spark.sql.streamapp.ExpressionAnalyzer
        answer: Mapping[str, Any] = json.loads(getattr(analyser, question)(self.sql_settings, text))
        if "refused" in answer:
            raise TextRefusedError(message_of(answer["refused"]))
        return answer


@dataclass(frozen=True, slots=True)
class SparkOnDemand:
    """A JVM that nothing is paid for until an expression needs it."""

    open: Callable[[str], SparkJvm]  # called with the text that needs it


@dataclass(slots=True)
class RecordedSpark:
    """The function that starts a JVM, and the texts that needed one, each once."""

    start: Callable[[], SparkJvm]
    notice: Callable[[str], None] = lambda _: None  # called with the first text, before a JVM is started
    texts: list[str] = field(default_factory=list, init=False)

    def open(self, text: str) -> SparkJvm:
        """The JVM, for a text that only Spark can judge or compute."""
        if text and text not in self.texts:
            if not self.texts:
                self.notice(text)
            self.texts.append(text)
        return self.start()


SparkSource: TypeAlias = SparkContext | SparkOnDemand
"""A driver's Spark, or what starts a JVM."""


def spark_jvm(source: SparkSource, text: str) -> SparkJvm:
    """The JVM, for a text that only Spark can judge or compute."""
    return source.open(text) if isinstance(source, SparkOnDemand) else jvm_of_context(source)


@lru_cache(maxsize=1)
def jvm_of_context(context: SparkContext) -> SparkJvm:
    """The JVM of a driver. To read the settings of a context takes a tenth of a second."""
    return SparkJvm.of_settings(context._jvm, context.getConf().getAll())  # noqa: SLF001 - Spark has no other way
