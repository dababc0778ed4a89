"""The template of driver pods: all fields that do not differ between incarnations."""

from collections.abc import Mapping
from typing import Any

from streamapp.author.app_streams import is_embedded
from streamapp.protocol import message_names
from streamapp.spec.resource.app import StreamApp
from streamapp_operator.reconciler.installation import Installation
from streamapp_operator.reconciler.objects import driver_service, object_names
from streamapp_operator.reconciler.objects.object_metadata import ObjectRole, object_labels, role_selector
from streamapp_operator.reconciler.pods import runtime_image
from streamapp_operator.reconciler.pods.container_environment import (
    code_volume,
    container_variables,
    log_variables,
)
from streamapp_operator.reconciler.pods.embedded_log import log_claim_volume
from streamapp_operator.reconciler.pods.security_context import container_security, pod_security
from streamapp_operator.reconciler.pods.state_volume import (
    STATE_MOUNT,
    StateVolume,
    location_provider,
    state_volume,
)
from streamapp_operator.reconciler.pods.system_secrets import secret_volumes
from streamapp_operator.reconciler.pods.template_merge import (
    merge_template,
    name_resolution,
    node_spread,
    node_tolerations,
    restricted_containers,
)

DRIVER_CONTAINER = message_names.DRIVER_CONTAINER
ACCEPTED_VOLUME = "streamapp-accepted"
ACCEPTED_MOUNT = "/etc/streamapp/accepted"
GRACE_SECONDS = 60
"""For the running batch to end and stores to close; a lane that takes longer is fenced later."""


def driver_template(app: StreamApp, installation: Installation) -> dict[str, Any]:
    """The operator's pod template, merged over the user's."""
    user_template = app.spec.driver.template
    name = app.metadata.name
    image = runtime_image.runtime_image(app, installation)
    state = _state(app, image)
    code_volumes, code_mounts = code_volume(app)
    secrets, secret_mounts = secret_volumes(app)
    mounts = [{"name": ACCEPTED_VOLUME, "mountPath": ACCEPTED_MOUNT, "readOnly": True}]
    container = {
        "name": DRIVER_CONTAINER,
        "image": image,
        "imagePullPolicy": runtime_image.pull_policy(app, installation),
        "args": ["streamapp", "drive"],
        "env": [*container_variables(app), *log_variables(app, installation), *_facts(app)],
        "ports": [
            {"name": port, "containerPort": number, "protocol": "TCP"}
            for port, number in driver_service.PORTS.items()
        ],
        **_probes(),
        "resources": _resources(app, installation),
        "securityContext": container_security(),
        "terminationMessagePath": message_names.TERMINATION,
        "terminationMessagePolicy": "File",
        "volumeMounts": [*mounts, *state.mounts, *code_mounts, *secret_mounts],
    }
    template: dict[str, Any] = {
        "metadata": {"labels": object_labels(name, ObjectRole.DRIVER)},
        "spec": {
            "restartPolicy": "Never",  # the operator creates the next pod, under another incarnation
            "enableServiceLinks": False,
            "automountServiceAccountToken": True,
            "serviceAccountName": app.spec.service_account_name or object_names.driver_account(name),
            "subdomain": object_names.service(name),
            "terminationGracePeriodSeconds": _grace_seconds(user_template),
            "securityContext": pod_security(),
            "dnsConfig": name_resolution(user_template),
            "tolerations": node_tolerations(user_template),
            "containers": [container],
            "volumes": [*state.volumes, *code_volumes, *secrets],
        },
    }
    if app.spec.driver.standby:  # a node that is lost takes one of the two
        selector = role_selector(name, ObjectRole.DRIVER)
        template["spec"]["topologySpreadConstraints"] = node_spread(user_template, selector)
    if state.init_containers:
        template["spec"]["initContainers"] = list(state.init_containers)
    if secrets_to_pull := runtime_image.pull_secrets(app, installation):
        template["spec"]["imagePullSecrets"] = [{"name": secret} for secret in secrets_to_pull]
    return merge_template(restricted_containers(user_template, container_security()), template)


def _probes() -> dict[str, Any]:
    """The probes, which ask whether the driver makes progress.

    A driver that is stopped is unready within 12 s, which the app's conditions report, and the kubelet begins
    to end it within 80 s, where the operator has not. It has the grace period of its pod for that: one of the
    probe's own counts for nothing where a container is never restarted. Until its process answers for the
    first time it has five minutes.
    """
    return {
        "startupProbe": _probe(2, 150),
        "readinessProbe": _probe(3, 3, timeout_seconds=3),
        "livenessProbe": _probe(10, 6),
    }


def _probe(period_seconds: int, failures: int, timeout_seconds: int = 5) -> dict[str, Any]:
    return {
        "httpGet": {"path": message_names.LIVENESS_PATH, "port": "metrics"},
        "timeoutSeconds": timeout_seconds,
        "periodSeconds": period_seconds,
        "failureThreshold": failures,
    }


def _state(app: StreamApp, image: str) -> StateVolume:
    """The state volume of the driver's pod, which only an app with an embedded log has."""
    if not is_embedded(app):
        return StateVolume()
    return log_claim_volume(app) if app.spec.state.persistent_volume_claim else state_volume(app, image)


def _resources(app: StreamApp, installation: Installation) -> dict[str, Any]:
    resources = app.spec.driver.resources
    result: dict[str, Any] = {"requests": {**installation.driver_requests, **resources.requests}}
    if resources.limits:
        result["limits"] = dict(resources.limits)
    return result


def _grace_seconds(user_template: Mapping[str, Any]) -> int:
    """The user's grace period, if there is one."""
    grace_seconds = (user_template.get("spec") or {}).get("terminationGracePeriodSeconds")
    return GRACE_SECONDS if grace_seconds is None else int(grace_seconds)


def _facts(app: StreamApp) -> list[dict[str, Any]]:
    """The environment variables about the driver's own pod and app."""
    name = app.metadata.name
    fields = {
        "STREAMAPP_POD": "metadata.name",
        "STREAMAPP_POD_UID": "metadata.uid",
        "STREAMAPP_NAMESPACE": "metadata.namespace",
        "STREAMAPP_NODE": "spec.nodeName",
    }
    fixed = {
        "STREAMAPP_ACCEPTED": ACCEPTED_MOUNT,
        "STREAMAPP_WANTED": object_names.job_model(name),
        "STREAMAPP_REPORT": object_names.report(name),
        "STREAMAPP_STATE": STATE_MOUNT,
        "STREAMAPP_EXECUTORS": _selector(name, ObjectRole.EXECUTOR),
        "STREAMAPP_DRIVERS": _selector(name, ObjectRole.DRIVER),
        "STREAMAPP_GRACE_SECONDS": str(_grace_seconds(app.spec.driver.template)),
        "STREAMAPP_LOCATION": location_provider(app),
    }
    return [
        *({"name": key, "value": value} for key, value in fixed.items()),
        *({"name": key, "valueFrom": {"fieldRef": {"fieldPath": path}}} for key, path in fields.items()),
    ]


def _selector(app: str, role: ObjectRole) -> str:
    return ",".join(f"{key}={value}" for key, value in role_selector(app, role).items())
