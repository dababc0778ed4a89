"""The connection to a system of streams: values that travel to every process of an app.

What is secret does not travel: a connection names the folder where it lies, and each process reads it there.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

from streamapp_runtime.systems.embedded.embedded_system import EmbeddedSystem
from streamapp_runtime.systems.stream_system import StreamSystem


@dataclass(frozen=True, slots=True)
class EmbeddedConnection:
    """A log in a folder of this machine."""

    folder: str
    sync: bool = False


@dataclass(frozen=True, slots=True)
class KafkaConnection:
    """A cluster, and how its clients are set up."""

    bootstrap_servers: str
    settings: Mapping[str, str] = field(default_factory=dict)  # as the resource says them
    secrets: str | None = None  # the folder of those that it does not say


Connection = EmbeddedConnection | KafkaConnection


def system_opener(connection: Connection) -> Callable[[], StreamSystem]:
    """The function that opens the system, with its clients imported: nothing else imports those of Kafka."""
    if isinstance(connection, EmbeddedConnection):
        return partial(EmbeddedSystem, connection.folder, sync=connection.sync)
    from streamapp_runtime.systems.kafka.kafka_system import open_kafka

    return partial(open_kafka, connection.bootstrap_servers, connection.settings, connection.secrets)


def open_system(connection: Connection) -> StreamSystem:
    """The system, for use by this process."""
    return system_opener(connection)()
