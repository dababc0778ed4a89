"""The template from which Spark creates executor pods."""

import re
from typing import Any, Final

from streamapp.spec.resource.app import StreamApp
from streamapp_operator.reconciler.installation import Installation
from streamapp_operator.reconciler.objects import object_names
from streamapp_operator.reconciler.objects.object_metadata import ObjectRole, object_labels, role_selector
from streamapp_operator.reconciler.pods import runtime_image
from streamapp_operator.reconciler.pods.container_environment import (
    code_volume,
    container_variables,
    log_variables,
)
from streamapp_operator.reconciler.pods.security_context import container_security, pod_security
from streamapp_operator.reconciler.pods.state_volume import state_volume
from streamapp_operator.reconciler.pods.system_secrets import secret_volumes
from streamapp_operator.reconciler.pods.template_merge import (
    merge_template,
    name_resolution,
    node_spread,
    node_tolerations,
    restricted_containers,
)

EXECUTOR_CONTAINER = "spark-kubernetes-executor"
SPARK_NAME_LABEL: Final = "spark-app-name"
_MOST_LABEL_CHARACTERS: Final = 63


def executor_template(app: StreamApp, installation: Installation) -> dict[str, Any]:
    """The executor pod without name, image and size, which Spark sets.

    Executors are spread over nodes, so that the loss of one node costs few processors.
    """
    image = runtime_image.runtime_image(app, installation)
    state = state_volume(app, image)
    code_volumes, code_mounts = code_volume(app)
    secrets, secret_mounts = secret_volumes(app)
    selector = role_selector(app.metadata.name, ObjectRole.EXECUTOR)
    template: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "labels": {
                **object_labels(app.metadata.name, ObjectRole.EXECUTOR),
                SPARK_NAME_LABEL: spark_name_label(app.application_id),
            }
        },
        "spec": {
            "enableServiceLinks": False,
            "automountServiceAccountToken": False,
            "serviceAccountName": object_names.executor_account(app.metadata.name),
            "securityContext": pod_security(),
            "dnsConfig": name_resolution(app.spec.executor.template),
            "tolerations": node_tolerations(app.spec.executor.template),
            "topologySpreadConstraints": node_spread(app.spec.executor.template, selector),
            "containers": [
                {
                    "name": EXECUTOR_CONTAINER,
                    "image": image,
                    "env": [*container_variables(app), *log_variables(app, installation)],
                    "volumeMounts": [*state.mounts, *code_mounts, *secret_mounts],
                    "securityContext": container_security(),
                }
            ],
            "initContainers": list(state.init_containers),
            "volumes": [*state.volumes, *code_volumes, *secrets],
        },
    }
    user_template = restricted_containers(app.spec.executor.template, container_security())
    return _without_empty(merge_template(user_template, template))


def spark_name_label(application_id: str) -> str:
    """The label that Spark makes of an app's name: in the template it is a limit of what a driver makes."""
    words = re.sub("-+", "-", re.sub("[^a-z0-9-]", "-", application_id.lower()))
    return words[:_MOST_LABEL_CHARACTERS].removeprefix("-").removesuffix("-")


def _without_empty(template: dict[str, Any]) -> dict[str, Any]:
    return {**template, "spec": {name: value for name, value in template["spec"].items() if value != []}}
