"""The template from which Spark makes executor pods."""

from typing import Any

from streamapp.spec.app import StreamApp
from streamapp_operator import naming
from streamapp_operator.installation import Installation
from streamapp_operator.objects import pulling
from streamapp_operator.objects.environment import code_volume, variables
from streamapp_operator.objects.merging import merged
from streamapp_operator.objects.owned import Role, labels, selector
from streamapp_operator.objects.secrets import secret_volumes
from streamapp_operator.objects.security import container_security, pod_security
from streamapp_operator.objects.state_volume import state_volume

CONTAINER = "spark-kubernetes-executor"


def executor_template(app: StreamApp, installation: Installation) -> dict[str, Any]:
    """Everything about an executor pod but its name, image and size, which Spark sets."""
    image = pulling.image(app, installation)
    state = state_volume(app, image)
    code_volumes, code_mounts = code_volume(app)
    secrets, secret_mounts = secret_volumes(app)
    ours: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"labels": labels(app.metadata.name, Role.EXECUTOR)},
        "spec": {
            "enableServiceLinks": False,
            "automountServiceAccountToken": False,
            "serviceAccountName": naming.executor_account(app.metadata.name),
            "securityContext": pod_security(),
            "containers": [
                {
                    "name": CONTAINER,
                    "image": image,
                    "env": variables(app),
                    "volumeMounts": [*state.mounts, *code_mounts, *secret_mounts],
                    "securityContext": container_security(),
                }
            ],
            "initContainers": list(state.init_containers),
            "volumes": [*state.volumes, *code_volumes, *secrets],
        },
    }
    theirs = app.spec.executor.template
    if "topologySpreadConstraints" not in (theirs.get("spec") or {}):
        ours["spec"]["topologySpreadConstraints"] = [_spread(app.metadata.name)]
    return _without_empty(merged(theirs, ours))


def _spread(name: str) -> dict[str, Any]:
    """One node's loss shall cost few processors, and who replaces one shall come where it was."""
    return {
        "maxSkew": 1,
        "topologyKey": "kubernetes.io/hostname",
        "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": {"matchLabels": selector(name, Role.EXECUTOR)},
    }


def _without_empty(template: dict[str, Any]) -> dict[str, Any]:
    return {**template, "spec": {name: value for name, value in template["spec"].items() if value != []}}
