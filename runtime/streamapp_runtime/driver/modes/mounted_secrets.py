"""The values of the Secrets that a run was given: nothing that its processes write repeats them."""

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from streamapp.author.app_streams import is_embedded
from streamapp.protocol.message_names import DRIVER_CONTAINER, DRIVER_SHAPE
from streamapp.protocol.run_authentication import RUN_AUTH_FILE
from streamapp.spec.resource.app import StreamApp
from streamapp_runtime.driver.modes.pod_environment import EXECUTOR, EXECUTOR_CONTAINER, PodEnvironment
from streamapp_runtime.secret_sources import SecretSources


def driver_secret_values(environment: PodEnvironment) -> frozenset[str]:
    """The values that the driver's container has."""
    sources = _driver_sources(environment)
    mounted = {*_of_systems(environment.secrets), *_of_run(environment.run_secret_folder)}
    return sources.values(os.environ) | (mounted - {""})


def worker_secret_sources(environment: PodEnvironment, app: StreamApp) -> SecretSources:
    """The secret sources of the Python workers of a run; for an app in one pod, those of the driver."""
    if is_embedded(app):
        return _driver_sources(environment)
    container = environment.spark().get(EXECUTOR_CONTAINER, "")
    return SecretSources.of_pod(_shape(environment.accepted / EXECUTOR).get("spec", {}), container)


def _driver_sources(environment: PodEnvironment) -> SecretSources:
    template = _shape(environment.accepted / DRIVER_SHAPE).get("template", {})
    return SecretSources.of_pod(template.get("spec", {}), DRIVER_CONTAINER)


def _shape(file: Path) -> Mapping[str, Any]:
    shape: Mapping[str, Any] = json.loads(file.read_text("utf-8")) if file.exists() else {}
    return shape


def _of_systems(folder: Path | None) -> Iterator[str]:
    for file in folder.glob("*/*") if folder is not None else ():
        if file.is_file() and not file.name.startswith("."):
            yield file.read_text("utf-8", errors="replace").rstrip("\n")


def _of_run(folder: Path) -> Iterator[str]:
    if (file := folder / RUN_AUTH_FILE).exists():
        yield file.read_text("utf-8", errors="replace").rstrip("\n")
