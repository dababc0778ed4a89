"""The values of a table of metrics, in the objects of prometheus_client that are made from the table."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from threading import RLock
from typing import assert_never

from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.metrics_core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric as MetricFamily
from prometheus_client.registry import Collector

from streamapp.exposition.metric import Metric, MetricKind

LabelValues = tuple[str, ...]
"""What tells one value of a metric from the others, in the order of the metric's labels."""
GaugeValues = Mapping[LabelValues, float]


class MetricCollector(Collector):
    """The values so far. Written by the process, read by any thread that scrapes `registry`.

    Counters and histograms grow. A gauge is set as a whole, so that a label value that is gone leaves no
    sample; until it is set it has none.
    """

    def __init__(self, metrics: Iterable[Metric], buckets: Sequence[float]) -> None:
        self._metrics = tuple(metrics)
        self._counters = {
            metric: Counter(metric.name, metric.about, metric.labels, registry=None)
            for metric in self._metrics
            if metric.kind is MetricKind.COUNTER
        }
        self._histograms = {
            metric: Histogram(metric.name, metric.about, metric.labels, registry=None, buckets=buckets)
            for metric in self._metrics
            if metric.kind is MetricKind.HISTOGRAM
        }
        self._gauges: dict[Metric, GaugeValues] = {}
        self._gauge_functions: dict[Metric, Callable[[], GaugeValues]] = {}
        self._lock = RLock()
        self.registry = CollectorRegistry(auto_describe=True)
        self.registry.register(self)

    def increment(self, metric: Metric, *labels: str, by: float = 1) -> None:
        """Count one, or some; 0 makes the sample known before there is something to count."""
        counter = self._counters[metric]
        (counter.labels(*labels) if metric.labels else counter).inc(by)

    def observe(self, metric: Metric, value: float, *labels: str) -> None:
        """Count a value into a histogram."""
        histogram = self._histograms[metric]
        (histogram.labels(*labels) if metric.labels else histogram).observe(value)

    def timed(self, metric: Metric) -> AbstractContextManager[object]:
        """Count the seconds that what is within takes into a histogram without labels."""
        return self._histograms[metric].time()

    def set_gauge(self, metric: Metric, values: GaugeValues | float) -> None:
        """Replace all values of a gauge; a number is the one of a gauge without labels."""
        self._gauges[metric] = values if isinstance(values, Mapping) else {(): values}

    def set_gauge_function(self, metric: Metric, values: Callable[[], GaugeValues]) -> None:
        """Have a gauge's values looked up at each scrape."""
        self._gauge_functions[metric] = values

    @contextmanager
    def changes(self) -> Iterator[None]:
        """A scrape sees all of the changes within, or none."""
        with self._lock:
            yield

    def collect(self) -> list[MetricFamily]:
        """All metrics with their values of now."""
        looked_up = {metric: values() for metric, values in self._gauge_functions.items()}
        with self._lock:
            gauges = self._gauges | looked_up
            return [self._family(metric, gauges.get(metric, {})) for metric in self._metrics]

    def _family(self, metric: Metric, gauge_values: GaugeValues) -> MetricFamily:
        match metric.kind:
            case MetricKind.COUNTER:
                return _without_creation_times(self._counters[metric])
            case MetricKind.HISTOGRAM:
                return _without_creation_times(self._histograms[metric])
            case MetricKind.GAUGE:
                gauge = GaugeMetricFamily(metric.name, metric.about, labels=metric.labels)
                for labels, value in gauge_values.items():
                    gauge.add_metric(labels, value)
                return gauge
        assert_never(metric.kind)


def _without_creation_times(collector: Counter | Histogram) -> MetricFamily:
    """One family. The library's own switch would do the same to the metrics of a user's code."""
    (family,) = collector.collect()
    family.samples = [sample for sample in family.samples if sample.name != f"{family.name}_created"]
    return family
