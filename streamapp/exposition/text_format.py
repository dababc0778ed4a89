"""The text that Prometheus reads."""

from collections.abc import Callable, Iterable, Iterator, Mapping

from streamapp.exposition.metric import Histogram, Metric

Labels = tuple[str, ...]
"""What tells one value of a metric from the others, in the order of the metric's labels."""
Values = Mapping[Labels, float | Histogram]


def metrics_text(metrics: Iterable[Metric], values: Callable[[Metric], Values]) -> str:
    """All metrics with their values of now."""
    return "".join(f"{line}\n" for metric in metrics for line in _lines(metric, values(metric)))


def _lines(metric: Metric, values: Values) -> Iterator[str]:
    yield f"# HELP {metric.name} {metric.about}"
    yield f"# TYPE {metric.name} {metric.kind}"
    for labels, value in sorted(values.items(), key=lambda item: item[0]):
        told = dict(zip(metric.labels, labels, strict=True))
        if isinstance(value, Histogram):
            yield from _buckets(metric.name, told, value)
        else:
            yield f"{metric.name}{_braces(told)} {value:.17g}"


def _buckets(name: str, told: dict[str, str], seen: Histogram) -> Iterator[str]:
    below = 0
    for bound, count in zip((*(f"{bound:g}" for bound in seen.bounds), "+Inf"), seen.counts, strict=True):
        below += count
        yield f"{name}_bucket{_braces(told | {'le': bound})} {below}"
    yield f"{name}_sum{_braces(told)} {seen.total:.17g}"
    yield f"{name}_count{_braces(told)} {below}"


def _braces(told: dict[str, str]) -> str:
    inside = ",".join(f'{name}="{_escaped(text)}"' for name, text in told.items())
    return f"{{{inside}}}" * bool(inside)


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
