"""The shape of an app's pods: templates and Spark settings with all defaults resolved.

The shape is stored with its accepted generation. Only the stored shape is used later, so that another version
of the operator with other defaults restarts nothing.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from streamapp.durable_forms import VersionRefusal
from streamapp.protocol.message_names import DRIVER_SHAPE
from streamapp.spec.resource.app import StreamApp
from streamapp_operator.operator_durable_forms import POD_SHAPE
from streamapp_operator.reconciler.installation import Installation
from streamapp_operator.reconciler.pods.driver_template import driver_template
from streamapp_operator.reconciler.pods.executor_template import executor_template
from streamapp_operator.reconciler.pods.spark_conf import spark_conf

DRIVER, EXECUTOR, SPARK = DRIVER_SHAPE, "executor.json", "spark.json"


@dataclass(frozen=True, slots=True)
class PodShape:
    """Pod templates and settings."""

    driver: Mapping[str, Any]
    executor: Mapping[str, Any]
    spark_conf: Mapping[str, str]

    def files(self) -> dict[str, str]:
        """The files of the generation's ConfigMap, as they are stored and mounted."""
        return {
            DRIVER: _text({"format": POD_SHAPE.version, "template": self.driver}),
            EXECUTOR: _text(self.executor),  # read by Spark, so without a format field
            SPARK: _text(self.spark_conf),
        }


def pod_shape(app: StreamApp, installation: Installation, uid: str) -> PodShape:
    """The shape of an app, resolved with the installation's present defaults."""
    return PodShape(
        driver_template(app, installation),
        executor_template(app, installation),
        spark_conf(app, installation, uid),
    )


def read_pod_shape(files: Mapping[str, str]) -> PodShape:
    """The shape in these files; a ValueError where they have another format."""
    try:
        driver = json.loads(files[DRIVER])
        version = POD_SHAPE.read_version(driver["format"], "the shape")
        if isinstance(version, VersionRefusal):
            raise ValueError(str(version))  # noqa: TRY004 - a value that was read, not an argument
        return PodShape(driver["template"], json.loads(files[EXECUTOR]), json.loads(files[SPARK]))
    except (KeyError, TypeError) as error:
        raise ValueError(f"the shape lacks {error}") from None


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))
