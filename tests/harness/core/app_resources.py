"""The resource of an app from its parts, as data."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

Resource = dict[str, Any]

EMBEDDED: Final[Mapping[str, Any]] = {"name": "main", "embedded": {"path": "data"}}
"""A system in a folder beside the app."""


def registry_system(url: str) -> Resource:
    """A system with a schema registry; its streams lie in the log of a test."""
    registry = {"url": url, "timeout": "5s"}
    return {"name": "main", "kafka": {"bootstrapServers": "kafka:9092", "schemaRegistry": registry}}


EVERY_FIELD: Final[Mapping[str, str]] = {
    "key": "id",
    "keyFormat": "string",
    "timestamp": "sent_at",
    "partition": "place",
    "offset": "at",
    "topic": "source",
    "headers": "h",
    "headerList": "every",
}
"""A column for each field of a stream's records."""


def app_resource(
    operators: Sequence[Resource],
    streams: Sequence[Resource],
    tables: Sequence[Resource] = (),
    name: str = "app",
    system: Mapping[str, Any] = EMBEDDED,
    **spec: Any,
) -> Resource:
    """An app whose streams are of one system; `spec` has all other fields."""
    return {
        "apiVersion": "streamapp.dev/v1alpha1",
        "kind": "StreamApp",
        "metadata": {"name": name, "namespace": "test"},
        "spec": {
            "systems": [dict(system)],
            "streams": [{"system": system["name"], **stream} for stream in streams],
            "tables": list(tables),
            "operators": list(operators),
            **spec,
        },
    }
