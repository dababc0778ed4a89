"""A cluster opened with the settings of a resource, and with those that are secret."""

from collections.abc import Mapping
from pathlib import Path

from streamapp.spec.resource.kafka_settings import TOPICS
from streamapp_runtime.systems.kafka.kafka_system import KafkaSystem
from streamapp_runtime.systems.kafka.secret_settings import read_secrets

_BROKERS_OWN = -1


def open_kafka(bootstrap_servers: str, settings: Mapping[str, str], secrets: str | None) -> KafkaSystem:
    """The system; `secrets` is a folder, or a file of lines."""
    every = dict(settings) | (read_secrets(Path(secrets)) if secrets else {})
    replication = int(every.get("replication.factor", _BROKERS_OWN))
    clients = {name: value for name, value in every.items() if name not in TOPICS}
    return KafkaSystem(bootstrap_servers, clients, replication=replication)
