"""The place where an operator has put a driver, as its environment tells it."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Final

from streamapp.author.app_streams import is_embedded
from streamapp.protocol.log_settings import LogSettings
from streamapp.protocol.message_names import ACCEPTED
from streamapp.protocol.run_authentication import (
    RPC_ENCRYPTION,
    RUN_AUTH_FILE,
    RUN_AUTH_FOLDER,
    run_auth_mount,
    run_auth_volume,
)
from streamapp.spec.resource.app import StreamApp
from streamapp_runtime.driver.spark.jvm_process import JvmRequest
from streamapp_runtime.log_lines.line_labels import ProcessRole
from streamapp_runtime.log_lines.log4j_configuration import log4j_configuration

SPARK: Final = "spark.json"
EXECUTOR: Final = "executor.json"
SPARK_APP: Final = "spark.app.id"
ALLOCATOR: Final = "spark.kubernetes.allocation.pods.allocator"
EXECUTOR_CONTAINER: Final = "spark.kubernetes.executor.podTemplateContainerName"
RUN_AUTH_MOUNT: Final = Path(RUN_AUTH_FOLDER)
SECRETS: Final = Path("/etc/streamapp/secrets")


@dataclass(frozen=True, slots=True)
class PodEnvironment:
    """A driver's place in a cluster."""

    accepted: Path  # the folder with the accepted app and what shapes its executors
    state: Path  # below which stores are kept, on the driver's own pod too
    wanted: str  # the ConfigMap with the model
    report: str  # the ConfigMap to report in
    pod: str = ""
    incarnation: int = 0  # the number that the operator gave to this driver
    host: str = ""  # by which executors call the driver
    secrets: Path | None = None
    executors: str = ""  # the labels of their pods; empty where they are in none
    drivers: str = ""  # the labels of the app's drivers
    grace_seconds: float = 0.0  # within which a driver that is asked to end has to end
    location: str = ""  # what of a pod tells where it is, as `placement.location` says it
    run_secret: str = ""  # the Secret of this run, by which driver and executors know each other
    run_secret_folder: Path = RUN_AUTH_MOUNT
    logging: LogSettings = field(default_factory=LogSettings)

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
            int(environment.get("STREAMAPP_INCARNATION", "0")),
            environment.get("STREAMAPP_DRIVER_HOST", ""),
            secrets if secrets.is_dir() else None,
            executors=environment.get("STREAMAPP_EXECUTORS", ""),
            drivers=environment.get("STREAMAPP_DRIVERS", ""),
            grace_seconds=float(environment.get("STREAMAPP_GRACE_SECONDS", "0")),
            location=environment.get("STREAMAPP_LOCATION", ""),
            run_secret=environment.get("STREAMAPP_RUN_SECRET", ""),
            run_secret_folder=Path(environment.get("STREAMAPP_RUN_FOLDER", RUN_AUTH_MOUNT)),
            logging=LogSettings.of_environment(environment),
        )

    @property
    def app(self) -> Path:
        """The file with the accepted app."""
        return self.accepted / ACCEPTED

    def spark(self, *, is_local: bool = False) -> dict[str, str]:
        """Spark's settings: those that were resolved for the generation, and where this driver is."""
        conf = self._accepted_conf()
        if is_local:
            conf["spark.master"] = "local[1]"
        if self.host:
            conf["spark.driver.host"] = self.host
        if self.pod and conf.get("spark.master", "").startswith("k8s://"):
            conf["spark.kubernetes.driver.pod.name"] = self.pod
            conf["spark.executor.instances"] = (
                "0"  # they are asked for when the app is known to be able to run
            )
            conf |= self._own_executors(conf)
            conf |= self._authentication(conf)
        return conf

    def jvm(self, app: StreamApp) -> JvmRequest:
        """The JVM of this driver."""
        return JvmRequest.of_session(self.session_settings(app), self.log4j(app))

    def session_settings(self, app: StreamApp) -> dict[str, str]:
        """Spark's settings for an app: a log that is in this pod is reached by nobody else."""
        return self.spark(is_local=is_embedded(app))

    def log4j(self, app: StreamApp) -> str:
        """The properties by which the JVM of this driver logs."""
        return log4j_configuration(self.logging, app.application_id, ProcessRole.DRIVER)

    @property
    def has_own_executors(self) -> bool:
        """True if this driver's executors can be there beside those of another one.

        Those of a StatefulSet have its name, which all drivers of the app give it, and mount its claims.
        """
        return bool(self._own_executors(self._accepted_conf()))

    def executor_selector(self) -> str:
        """The labels of the pods of this driver's executors; empty where they are in none."""
        own = self._own_executors(self._accepted_conf()) if self.executors else {}
        return f"{self.executors},spark-app-selector={own[SPARK_APP]}" if own else self.executors

    def _accepted_conf(self) -> dict[str, str]:
        file = self.accepted / SPARK
        conf: dict[str, str] = json.loads(file.read_text("utf-8")) if file.exists() else {}
        return conf

    def _own_executors(self, conf: Mapping[str, str]) -> dict[str, str]:
        """The settings by which Spark tells the executors of this driver from those of the one before it."""
        if self.incarnation == 0 or conf.get(ALLOCATOR) == "statefulset":
            return {}
        return {
            name: f"{conf[name]}-{self.incarnation}"
            for name in (SPARK_APP, "spark.kubernetes.executor.podNamePrefix")
        }

    def _authentication(self, conf: Mapping[str, str]) -> dict[str, str]:
        """Settings by which driver and executors know each other; none under an operator without a secret."""
        if not self.run_secret:
            if conf.get(RPC_ENCRYPTION) == "true":
                raise ValueError("network.encryption needs the secret of the run, and the operator gave none")
            return {}
        with_secret = _template_with_run_secret(
            self.accepted / EXECUTOR, conf[EXECUTOR_CONTAINER], self.run_secret
        )
        return {
            "spark.authenticate": "true",
            "spark.authenticate.secret.driver.file": str(self.run_secret_folder / RUN_AUTH_FILE),
            "spark.authenticate.secret.file": str(RUN_AUTH_MOUNT / RUN_AUTH_FILE),
            "spark.kubernetes.executor.podTemplateFile": str(with_secret),
        }


def pod_environment() -> PodEnvironment:
    """The place where this process was put."""
    return PodEnvironment.of(os.environ)


@cache  # settings that are asked for twice name one file
def _template_with_run_secret(template_file: Path, own_container: str, secret: str) -> Path:
    """A file of this process with the template of executors, and the Secret of one run in it."""
    template = json.loads(template_file.read_text("utf-8"))
    with_secret = Path(mkdtemp(prefix="streamapp-"), template_file.name)
    with_secret.write_text(json.dumps(_with_run_secret(template, own_container, secret)), "utf-8")
    return with_secret


def _with_run_secret(template: Mapping[str, Any], own_container: str, secret: str) -> dict[str, Any]:
    """The template of executors with the Secret of one run mounted into Spark's container."""
    spec = template["spec"]
    containers = [
        {**container, "volumeMounts": [*container.get("volumeMounts", ()), run_auth_mount()]}
        if container["name"] == own_container
        else container
        for container in spec["containers"]
    ]
    volumes = [*spec.get("volumes", ()), run_auth_volume(secret)]
    return {**template, "spec": {**spec, "containers": containers, "volumes": volumes}}
