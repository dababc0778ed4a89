"""The reference page of a table of metrics."""

from collections.abc import Iterable

from streamapp.exposition.metric import Metric


def metrics_page(head: Iterable[str], metrics: Iterable[Metric]) -> str:
    """What is said first, then a row for each metric."""
    rows = (
        f"| `{metric.name}` | {metric.kind} | {', '.join(f'`{label}`' for label in metric.labels)} "
        f"| {metric.about}{_formerly(metric)} |"
        for metric in metrics
    )
    return "\n".join([*head, "", "| Name | Kind | By | Meaning |", "| --- | --- | --- | --- |", *rows, ""])


def _formerly(metric: Metric) -> str:
    return f" Formerly `{metric.former}`, which is exported too until 0.2." if metric.former else ""
