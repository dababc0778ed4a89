"""Spark's settings on a cluster: what the engine's promises rest on, and what the app asks for beside it."""

from streamapp.spec.resource.app import StreamApp
from streamapp_operator.reconciler.installation import Installation
from streamapp_operator.reconciler.objects import driver_service, object_names
from streamapp_operator.reconciler.pods import runtime_image
from streamapp_operator.reconciler.pods.executor_template import EXECUTOR_CONTAINER
from streamapp_operator.reconciler.pods.memory_split import split_memory
from streamapp_operator.reconciler.pods.state_volume import state_volume

EXECUTOR_TEMPLATE = "/etc/streamapp/accepted/executor.json"

UI_DEFAULTS = {
    "spark.ui.enabled": "true",
    "spark.ui.retainedJobs": "200",
    "spark.ui.retainedStages": "200",
    "spark.ui.retainedTasks": "1000",
    "spark.sql.ui.retainedExecutions": "200",
}
"""Spark's own pages, with fewer jobs than Spark would keep: each batch is one. An app may say otherwise."""

RESERVED_PREFIXES = (
    "spark.app.",
    "spark.master",
    "spark.submit.",
    "spark.driver.host",
    "spark.driver.port",
    "spark.driver.bindAddress",
    "spark.driver.blockManager.port",
    "spark.driver.memory",
    "spark.blockManager.port",
    "spark.dynamicAllocation.",
    "spark.decommission.",
    "spark.storage.decommission.",
    "spark.speculation",
    "spark.executor.cores",
    "spark.executor.instances",
    "spark.executor.memory",
    "spark.executor.memoryOverhead",
    "spark.executor.pyspark.memory",
    "spark.executorEnv.",
    "spark.kubernetes.",
    "spark.locality.",
    "spark.plugins",
    "spark.python.",
    "spark.scheduler.",
    "spark.sql.ansi.",
    "spark.sql.execution.arrow.",
    "spark.sql.extensions",
    "spark.sql.session.timeZone",
    "spark.task.",
    "spark.ui.port",
)
"""What an app may not set: settings with these beginnings."""


def spark_conf(app: StreamApp, installation: Installation, uid: str) -> dict[str, str]:
    """The settings that are the same at each start; the driver adds its own host and pod."""
    executor = {**installation.executor_requests, **app.spec.executor.resources.requests}
    limits = app.spec.executor.resources.limits
    memory = split_memory(limits.get("memory", executor["memory"]), "executor")
    driver = {**installation.driver_requests, **app.spec.driver.resources.requests}
    driver_memory = split_memory(app.spec.driver.resources.limits.get("memory", driver["memory"]), "driver")
    name = app.metadata.name
    ours = {
        "spark.app.id": object_names.spark_app(uid),
        "spark.app.name": app.application_id,
        "spark.master": "k8s://https://kubernetes.default.svc",
        "spark.submit.deployMode": "client",
        "spark.driver.bindAddress": "0.0.0.0",  # noqa: S104 - the pod's own address is not known before
        "spark.driver.memory": f"{driver_memory.heap}m",
        "spark.driver.port": str(driver_service.RPC),
        "spark.driver.blockManager.port": str(driver_service.BLOCKS),
        "spark.blockManager.port": str(driver_service.BLOCKS),
        "spark.ui.port": str(driver_service.UI),
        "spark.dynamicAllocation.enabled": "false",
        "spark.decommission.enabled": "false",
        "spark.speculation": "false",
        "spark.executor.cores": "1",
        "spark.task.cpus": "1",
        "spark.executor.memory": f"{memory.heap}m",
        "spark.executor.memoryOverhead": f"{memory.beside}m",
        "spark.kubernetes.namespace": app.metadata.namespace,
        "spark.kubernetes.container.image": runtime_image.runtime_image(app, installation),
        "spark.kubernetes.container.image.pullPolicy": runtime_image.pull_policy(app, installation),
        "spark.kubernetes.executor.podNamePrefix": name,
        "spark.kubernetes.executor.podTemplateFile": EXECUTOR_TEMPLATE,
        "spark.kubernetes.executor.podTemplateContainerName": EXECUTOR_CONTAINER,
        "spark.kubernetes.executor.request.cores": executor["cpu"],
        "spark.kubernetes.executor.disableConfigMap": "true",
        "spark.kubernetes.executor.useDriverPodIP": "false",
        "spark.kubernetes.authenticate.executor.serviceAccountName": object_names.executor_account(name),
    }
    if secrets := ",".join(runtime_image.pull_secrets(app, installation)):
        ours["spark.kubernetes.container.image.pullSecrets"] = secrets
    if "cpu" in limits:
        ours["spark.kubernetes.executor.limit.cores"] = limits["cpu"]
    state = state_volume(app, runtime_image.runtime_image(app, installation), installation.storage_class)
    asked = {
        **UI_DEFAULTS,
        **installation.spark_conf,
        **app.spec.driver.spark_conf,
        **app.spec.executor.spark_conf,
    }
    return dict(sorted({**asked, **ours, **state.spark_conf}.items()))


def reserved_prefix(setting: str) -> str | None:
    """The beginning by which a setting is the engine's own; None for one that an app may set."""
    return next((begin for begin in RESERVED_PREFIXES if setting.startswith(begin)), None)
