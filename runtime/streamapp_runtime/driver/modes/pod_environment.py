"""Where an operator has put a driver: what its environment tells it."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from streamapp.protocol.message_names import ACCEPTED

SPARK: Final = "spark.json"
SECRETS: Final = Path("/etc/streamapp/secrets")


@dataclass(frozen=True, slots=True)
class PodEnvironment:
    """A driver's place in a cluster."""

    accepted: Path  # the folder with the accepted app and what shapes its executors
    state: Path  # below which stores are kept, on the driver's own pod too
    wanted: str  # the ConfigMap with the model
    report: str  # the ConfigMap to report in
    pod: str = ""
    host: str = ""  # by which executors call the driver
    secrets: Path | None = None
    executors: str = ""  # the labels of their pods; empty where they are in none
    location: str = ""  # what of a pod tells where it is, as `placement.location` says it

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> "PodEnvironment":
        """As an operator tells it; a KeyError names what it has left out."""
        secrets = Path(environment.get("STREAMAPP_SECRETS", SECRETS))
        return cls(
            Path(environment["STREAMAPP_ACCEPTED"]),
            Path(environment["STREAMAPP_STATE"]),
            environment["STREAMAPP_WANTED"],
            environment["STREAMAPP_REPORT"],
            environment.get("STREAMAPP_POD", ""),
            environment.get("STREAMAPP_DRIVER_HOST", ""),
            secrets if secrets.is_dir() else None,
            environment.get("STREAMAPP_EXECUTORS", ""),
            environment.get("STREAMAPP_LOCATION", ""),
        )

    @property
    def app(self) -> Path:
        """The file with the accepted app."""
        return self.accepted / ACCEPTED

    def spark(self) -> dict[str, str]:
        """Spark's settings: those that were resolved for the generation, and where this driver is."""
        file = self.accepted / SPARK
        conf: dict[str, str] = json.loads(file.read_text("utf-8")) if file.exists() else {}
        if self.host:
            conf["spark.driver.host"] = self.host
        if self.pod and conf.get("spark.master", "").startswith("k8s://"):
            conf["spark.kubernetes.driver.pod.name"] = self.pod
            conf["spark.executor.instances"] = (
                "0"  # they are asked for when the app is known to be able to run
            )
        return conf


def pod_environment() -> PodEnvironment:
    """Where this process was put."""
    return PodEnvironment.of(os.environ)
