"""Spark's settings on a cluster: those that the engine relies on, and the app's own."""

from streamapp.protocol.message_names import LANES_PORT
from streamapp.protocol.run_authentication import RPC_ENCRYPTION
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
"""Defaults of Spark's UI, with fewer retained jobs since each batch is one. An app may override them."""
FAILURE_DEFAULTS = {"spark.executor.maxNumFailures": str(2**31 - 1)}
"""Spark's own limit is three executors in the life of a driver, since that begins without any. An app may set
one; otherwise only batches that fail in a row end a driver."""
ENCRYPTION = {
    RPC_ENCRYPTION: "true",
    "spark.network.crypto.authEngineVersion": "2",
    "spark.network.crypto.cipher": "AES/GCM/NoPadding",
    "spark.network.crypto.saslFallback": "false",
}
"""Encryption by the secret of the run. Without the fallback a peer that does not encrypt is refused."""

RESERVED_PREFIXES = (
    "spark.acls.",
    "spark.app.",
    "spark.authenticate",
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
    "spark.excludeOnFailure.",
    "spark.speculation",
    "spark.streamapp.",
    "spark.executor.cores",
    "spark.executor.instances",
    "spark.executor.memory",
    "spark.executor.memoryOverhead",
    "spark.executor.pyspark.memory",
    "spark.executorEnv.",
    "spark.kubernetes.",
    "spark.locality.",
    "spark.network.crypto.",
    "spark.plugins",
    "spark.python.",
    "spark.scheduler.",
    "spark.sql.ansi.",
    "spark.sql.execution.arrow.",
    "spark.sql.execution.pyspark.",
    "spark.sql.extensions",
    "spark.sql.session.timeZone",
    "spark.ssl.",
    "spark.task.",
    "spark.ui.killEnabled",
    "spark.ui.port",
)
"""The prefixes of settings that an app may not set."""


def spark_conf(app: StreamApp, installation: Installation, uid: str) -> dict[str, str]:
    """The settings that do not differ between starts; the driver adds its host and pod."""
    executor = {**installation.executor_requests, **app.spec.executor.resources.requests}
    limits = app.spec.executor.resources.limits
    memory = split_memory(limits.get("memory", executor["memory"]), "executor")
    driver = {**installation.driver_requests, **app.spec.driver.resources.requests}
    driver_memory = split_memory(app.spec.driver.resources.limits.get("memory", driver["memory"]), "driver")
    name = app.metadata.name
    engine_settings = {
        "spark.app.id": object_names.spark_app(uid),
        "spark.app.name": app.application_id,
        "spark.master": "k8s://https://kubernetes.default.svc",
        "spark.submit.deployMode": "client",
        "spark.driver.bindAddress": "0.0.0.0",  # noqa: S104 - the pod's own address is not known before
        "spark.driver.memory": f"{driver_memory.heap}m",
        "spark.driver.port": str(driver_service.RPC),
        "spark.driver.blockManager.port": str(driver_service.BLOCKS),
        "spark.blockManager.port": str(driver_service.BLOCKS),
        LANES_PORT: str(driver_service.LANES),
        "spark.ui.port": str(driver_service.UI),
        "spark.dynamicAllocation.enabled": "false",
        "spark.decommission.enabled": "false",
        "spark.speculation": "false",
        "spark.executor.cores": "1",
        "spark.task.cpus": "1",
        "spark.executor.memory": f"{memory.heap}m",
        "spark.executor.memoryOverhead": f"{memory.non_heap}m",
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
        engine_settings["spark.kubernetes.container.image.pullSecrets"] = secrets
    if "cpu" in limits:
        engine_settings["spark.kubernetes.executor.limit.cores"] = limits["cpu"]
    if app.spec.network.encryption:
        engine_settings |= ENCRYPTION
    state = state_volume(app, runtime_image.runtime_image(app, installation), installation.storage_class)
    app_settings = {
        **UI_DEFAULTS,
        **FAILURE_DEFAULTS,
        **installation.spark_conf,
        **app.spec.driver.spark_conf,
        **app.spec.executor.spark_conf,
    }
    return dict(sorted({**app_settings, **engine_settings, **state.spark_conf}.items()))


def reserved_prefix(setting: str) -> str | None:
    """The reserved prefix of a setting; None for a setting that an app may set."""
    return next((prefix for prefix in RESERVED_PREFIXES if setting.startswith(prefix)), None)
