"""An app as a program, which collects parts and renders to the resource."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from streamapp.dsl.app_parts import AppParts, resource_fields
from streamapp.dsl.stream_flow import StreamHandle, TableHandle
from streamapp.spec.parser import ParseResult, parse_data
from streamapp.spec.resource.app import API_VERSION, KIND
from streamapp.spec.resource.state import Placement, State
from streamapp.spec.resource.streams import EventTime
from streamapp.spec.resource.tables import Remote, SideInput


@dataclass(frozen=True, slots=True)
class SystemHandle:
    """A system in which streams are declared."""

    parts: AppParts
    name: str

    def stream(
        self,
        name: str,
        *,
        topic: str | None = None,
        format: Literal["json", "avro", "bytes", "string", "columns"] | None = None,
        columns: str | None = None,
        key: str | None = None,
        keys: Literal["checked", "unchecked"] | None = None,
        event_time: EventTime | None = None,
        start: Literal["earliest", "latest"] | None = None,
        control: bool | None = None,
        feedback: bool | None = None,
    ) -> StreamHandle:
        """Declare a stream of this system."""
        fields: dict[str, Any] = {
            "topic": topic,
            "format": format,
            "columns": columns,
            "key": key,
            "keys": keys,
        }
        fields |= {"event_time": event_time, "start": start, "control": control, "feedback": feedback}
        self.parts.streams.append({"name": name, "system": self.name, **resource_fields(fields)})
        return StreamHandle(self.parts, name)


class App:
    """A StreamApp being written.

    >>> app = App("hello")
    >>> log = app.embedded("main", path="./data")
    >>> log.stream("words", columns="word STRING").filter("long", where="length(word) > 8")
    ... # doctest: +ELLIPSIS
    Flow(...)
    """

    def __init__(
        self,
        name: str,
        *,
        namespace: str | None = None,
        application_id: str | None = None,
        mode: Literal["stream", "batch"] | None = None,
        processors: int | None = None,
        config: dict[str, str] | None = None,
        grouper: str | None = None,
        broadcast_inputs: Sequence[str] | None = None,
        placement: Placement | None = None,
        state: State | None = None,
    ) -> None:
        self.parts = AppParts()
        self._metadata = resource_fields({"name": name, "namespace": namespace})
        self._head = resource_fields({
            "application_id": application_id,
            "mode": mode,
            "processors": processors,
            "config": config,
        })  # fmt: skip
        self._tail = resource_fields({
            "grouper": grouper,
            "broadcast_inputs": broadcast_inputs,
            "placement": placement,
            "state": state,
        })  # fmt: skip

    def kafka(self, name: str, *, bootstrap_servers: str, config_secret: str | None = None) -> SystemHandle:
        """Streams that are topics of a Kafka cluster."""
        secret = {"name": config_secret} if config_secret else None
        fields = resource_fields({"bootstrap_servers": bootstrap_servers, "config_secret": secret})
        return self._system(name, "kafka", fields)

    def embedded(self, name: str, *, path: str) -> SystemHandle:
        """Streams in a folder of this machine."""
        return self._system(name, "embedded", {"path": path})

    def _system(self, name: str, kind: str, fields: dict[str, Any]) -> SystemHandle:
        self.parts.systems.append({"name": name, kind: fields})
        return SystemHandle(self.parts, name)

    def table(
        self,
        name: str,
        *,
        store: Literal["rocksdb", "lmdb", "memory"] | None = None,
        columns: str | None = None,
        side_inputs: Sequence[SideInput] | None = None,
        broadcast: bool | None = None,
        remote: Remote | None = None,
    ) -> TableHandle:
        """Declare a table."""
        fields = {"store": store, "columns": columns, "side_inputs": side_inputs}
        self.parts.tables.append(
            {"name": name, **resource_fields({**fields, "broadcast": broadcast, "remote": remote})}
        )
        return TableHandle(name)

    def parsed(self) -> ParseResult:
        """The resource, or its problems with the paths of the resource."""
        lists = {"systems": self.parts.systems, "streams": self.parts.streams}
        lists |= {"tables": self.parts.tables, "operators": self.parts.operators}
        spec = {**self._head, **lists, **self._tail}
        return parse_data({"apiVersion": API_VERSION, "kind": KIND, "metadata": self._metadata, "spec": spec})
