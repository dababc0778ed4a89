"""The values of the operator's metrics, and the text of them that Prometheus reads."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter

from streamapp_operator.telemetry.metrics import BOUNDS, METRICS, Metric, Sort

Values = tuple[str, ...]


@dataclass(slots=True)
class Histogram:
    """How often which length was seen."""

    counts: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS) + 1))
    total: float = 0.0


@dataclass(slots=True)
class Measured:
    """The values so far. Written and read within one event loop."""

    _counts: dict[Metric, dict[Values, float]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(float))
    )
    _gauges: dict[Metric, Callable[[], dict[Values, float]]] = field(default_factory=dict)
    _histograms: dict[Metric, Histogram] = field(default_factory=lambda: defaultdict(Histogram))

    def add(self, metric: Metric, *labels: str, by: int = 1) -> None:
        """Count one, or some."""
        self._counts[metric][labels] += by

    def see(self, metric: Metric, seconds: float) -> None:
        """Note how long something took."""
        seen = self._histograms[metric]
        seen.counts[bisect_left(BOUNDS, seconds)] += 1
        seen.total += seconds

    @contextmanager
    def timed(self, metric: Metric) -> Iterator[None]:
        """Note how long what is within takes."""
        began = perf_counter()
        try:
            yield
        finally:
            self.see(metric, perf_counter() - began)

    def look(self, metric: Metric, values: Callable[[], dict[Values, float]]) -> None:
        """Where a gauge's values are looked up when they are asked for."""
        self._gauges[metric] = values

    def text(self) -> str:
        """What a scrape is given."""
        return "".join(f"{line}\n" for metric in METRICS for line in self._lines(metric))

    def _lines(self, metric: Metric) -> Iterator[str]:
        yield f"# HELP {metric.name} {metric.about}"
        yield f"# TYPE {metric.name} {metric.sort}"
        if metric.sort is Sort.HISTOGRAM:
            yield from _buckets(metric.name, self._histograms[metric])
            return
        values = self._counts[metric] if metric.sort is Sort.COUNTER else {}
        if metric.sort is Sort.COUNTER and not metric.labels:
            values.setdefault((), 0.0)
        if metric in self._gauges:
            values = self._gauges[metric]()
        for labels, number in sorted(values.items()):
            told = ",".join(
                f'{name}="{_escaped(text)}"' for name, text in zip(metric.labels, labels, strict=True)
            )
            yield f"{metric.name}{f'{{{told}}}' * bool(told)} {number:.17g}"


def _buckets(name: str, seen: Histogram) -> Iterator[str]:
    below = 0
    for bound, number in zip((*(f"{bound:g}" for bound in BOUNDS), "+Inf"), seen.counts, strict=True):
        below += number
        yield f'{name}_bucket{{le="{bound}"}} {below}'
    yield f"{name}_sum {seen.total:.17g}"
    yield f"{name}_count {below}"


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
