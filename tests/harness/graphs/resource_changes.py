"""What a user writes who follows a hint: the change of a graph, made in a resource and in its counts."""

from copy import deepcopy
from typing import Any

from streamapp.plan.graph_changes import (
    GraphChange,
    Hint,
    PartitionByInsertion,
    PartitionsRequest,
    StreamGrowth,
    TableBroadcast,
)


def followed(
    hint: Hint, resource: dict[str, Any], counts: dict[str, int]
) -> tuple[dict[str, Any], dict[str, int]]:
    """The resource and the counts of its streams after all changes of the hint."""
    edited, counts = deepcopy(resource), dict(counts)
    for number, change in enumerate(hint.changes):
        _make(change, edited["spec"], counts, f"inserted-{number}")
    return edited, counts


def _make(change: GraphChange, spec: dict[str, Any], counts: dict[str, int], name: str) -> None:
    body_of = {
        operator["name"]: body
        for operator in spec["operators"]
        for kind, body in operator.items()
        if kind != "name"
    }
    match change:
        case PartitionByInsertion():
            for consumer in change.consumers:
                sources = body_of[consumer]["from"]
                body_of[consumer]["from"] = (
                    [name if source == change.source else source for source in sources]
                    if isinstance(sources, list)
                    else name
                )
            spec["operators"].append({"name": name, "partitionBy": {"from": change.source, "key": "k"}})
        case PartitionsRequest():
            for operator in change.operators:
                body_of[operator]["partitions"] = change.partitions
        case StreamGrowth():
            counts[change.stream] = change.partitions
        case TableBroadcast():
            for table in spec["tables"]:
                table["broadcast"] = table["name"] in change.tables or table.get("broadcast", False)
