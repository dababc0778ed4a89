"""The systems of an app of which there is one, which a test has opened."""

from dataclasses import replace

from streamapp.spec.resource.app import StreamApp
from streamapp_runtime.driver.start.app_storage import AppStorage, stream_locations
from streamapp_runtime.operators.stateless.stream_operations import declared_stream
from streamapp_runtime.systems.app_systems import Systems
from streamapp_runtime.systems.connection import EmbeddedConnection, StreamLocation, SystemConnections
from streamapp_runtime.systems.stream_system import StreamSystem

HOME = "main"


class _OneConnection(SystemConnections):
    def location(self, stream: str) -> StreamLocation:
        return self.locations.get(stream) or StreamLocation(HOME, declared_stream(stream))


class OneSystem(Systems):
    """All streams are in one system, under their own names or those that an app gives them."""

    def __init__(self, system: StreamSystem, app: StreamApp | None = None) -> None:
        locations = stream_locations(app) if app else {}
        topics = {stream: StreamLocation(HOME, one.topic) for stream, one in locations.items()}
        super().__init__(_OneConnection(HOME, {HOME: EmbeddedConnection("")}, topics))
        self._open = {HOME: system}


def storage_at_home(storage: AppStorage, app: StreamApp) -> AppStorage:
    """A storage whose one system is that of all streams of an app."""
    systems = dict.fromkeys((system.name for system in app.spec.systems), storage.systems.of_home)
    connections = SystemConnections(app.spec.home.name, systems, stream_locations(app))
    return replace(storage, systems=connections)
