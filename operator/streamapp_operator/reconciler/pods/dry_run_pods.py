"""The pods of a generation as the API server is to judge them before the generation is accepted."""

from collections.abc import Iterator
from typing import Final

from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.reconciler.pods.driver_pod import driver_pod
from streamapp_operator.reconciler.pods.executor_template import EXECUTOR_CONTAINER
from streamapp_operator.reconciler.pods.pod_shape import PodShape

DRIVER_PATH: Final = "spec.driver"
EXECUTOR_PATH: Final = "spec.executor"
DRY_RUN_INCARNATION = 0
"""No driver has this one."""


def dry_run_pods(app: Manifest, shape: PodShape, generation: int) -> Iterator[tuple[str, Manifest]]:
    """The pods, each with the path of the resource that its shape comes from."""
    yield DRIVER_PATH, driver_pod(app, shape.driver, generation, DRY_RUN_INCARNATION, {})
    yield EXECUTOR_PATH, _executor_pod(app, shape)


def _executor_pod(app: Manifest, shape: PodShape) -> Manifest:
    """The executor's template with what Spark adds to it: a name and its size."""
    conf, spec = shape.spark_conf, shape.executor["spec"]
    megabytes = sum(
        int(conf[f"spark.executor.{name}"].removesuffix("m")) for name in ("memory", "memoryOverhead")
    )
    limits = {"memory": f"{megabytes}Mi"}
    if cores := conf.get("spark.kubernetes.executor.limit.cores"):
        limits["cpu"] = cores
    requests = {"memory": f"{megabytes}Mi", "cpu": conf["spark.kubernetes.executor.request.cores"]}
    containers = [
        {
            **container,
            "resources": {**(container.get("resources") or {}), "requests": requests, "limits": limits},
        }
        if container["name"] == EXECUTOR_CONTAINER
        else container
        for container in spec["containers"]
    ]
    metadata = app["metadata"]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            **(shape.executor.get("metadata") or {}),
            "name": f"{metadata['name']}-executor-{DRY_RUN_INCARNATION}",
            "namespace": metadata["namespace"],
        },
        "spec": {**spec, "restartPolicy": "Never", "containers": containers},
    }
