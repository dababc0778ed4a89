"""The reference page of a table of metrics."""

from collections.abc import Iterable

from streamapp.exposition.metric import Metric


def metrics_page(head: Iterable[str], metrics: Iterable[Metric]) -> str:
    """The text of the page: the head, then a row for each metric."""
    rows = (
        f"| `{metric.name}` | {metric.kind} | {', '.join(f'`{label}`' for label in metric.labels)} "
        f"| {metric.about} |"
        for metric in metrics
    )
    return "\n".join([*head, "", "| Name | Kind | By | Meaning |", "| --- | --- | --- | --- |", *rows, ""])
