"""Client settings that only their owner may read: a folder with a file for each, as a Secret is mounted."""

from pathlib import Path

from streamapp.spec.resource.kafka_settings import refused_secret
from streamapp_runtime.systems.secret_entries import secret_entries
from streamapp_runtime.systems.stream_system import InvalidSettingsError


def read_secrets(place: Path) -> dict[str, str]:
    """The settings in a folder, a file each, named by its key; or in one file of lines like `key=value`."""
    secrets = secret_entries(place)
    if refused := refused_secret(secrets):
        raise InvalidSettingsError(f"{place}: {refused}")
    return secrets
