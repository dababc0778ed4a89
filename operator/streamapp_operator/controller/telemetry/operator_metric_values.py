"""The values of the operator's metrics, and the text of them that Prometheus reads."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter

from streamapp.exposition.metric import Histogram, Metric, MetricKind
from streamapp.exposition.text_format import Labels, Values, metrics_text
from streamapp_operator.controller.telemetry.operator_metrics import BUCKET_BOUNDS, METRICS


@dataclass(slots=True)
class OperatorMetricValues:
    """The values so far. Written and read within one event loop."""

    _counts: dict[Metric, dict[Labels, float]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(float))
    )
    _gauges: dict[Metric, Callable[[], dict[Labels, float]]] = field(default_factory=dict)
    _histograms: dict[Metric, Histogram] = field(
        default_factory=lambda: defaultdict(lambda: Histogram(BUCKET_BOUNDS))
    )

    def add(self, metric: Metric, *labels: str, by: int = 1) -> None:
        """Count one, or some."""
        self._counts[metric][labels] += by

    def see(self, metric: Metric, seconds: float) -> None:
        """Note how long something took."""
        self._histograms[metric].see(seconds)

    @contextmanager
    def timed(self, metric: Metric) -> Iterator[None]:
        """Note how long what is within takes."""
        began = perf_counter()
        try:
            yield
        finally:
            self.see(metric, perf_counter() - began)

    def look(self, metric: Metric, values: Callable[[], dict[Labels, float]]) -> None:
        """Where a gauge's values are looked up when they are asked for."""
        self._gauges[metric] = values

    def text(self) -> str:
        """What a scrape is given."""
        return metrics_text(METRICS, self._of)

    def _of(self, metric: Metric) -> Values:
        if metric.kind is MetricKind.HISTOGRAM:
            return {(): self._histograms[metric]}
        if metric in self._gauges:
            return self._gauges[metric]()
        counts = self._counts[metric]
        if metric.kind is MetricKind.COUNTER and not metric.labels:
            counts.setdefault((), 0.0)
        return counts
