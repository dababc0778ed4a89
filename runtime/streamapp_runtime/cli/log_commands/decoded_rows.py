"""The decoder of a stream of an app, with the registry of its system."""

from collections.abc import Callable
from pathlib import Path

from streamapp.spec.resource.app import StreamApp
from streamapp_runtime.driver.start.app_storage import stream_registry
from streamapp_runtime.formats.row_decoder import RowDecoder
from streamapp_runtime.systems.connection import open_registry


def row_decoder(app: StreamApp, name: str, secrets: Path | None, tell: Callable[[str], None]) -> RowDecoder:
    """The decoder of a stream's records; ValueError where the app does not say its columns."""
    stream = next((one for one in app.spec.streams if one.name == name), None)
    if stream is None or stream.columns is None:
        raise ValueError(f'the app says no columns of "{name}", which rows would have; leave --rows out')
    registry = stream_registry(app, stream, secrets)
    schemas = open_registry(registry) if registry else None
    return RowDecoder.of(stream, schemas, tell)
