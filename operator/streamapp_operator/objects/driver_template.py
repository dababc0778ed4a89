"""The template of driver pods: all about them but what differs from one incarnation to the next."""

from typing import Any

from streamapp.author.streams import is_embedded
from streamapp.protocol import places
from streamapp.spec.app import StreamApp
from streamapp_operator import naming
from streamapp_operator.installation import Installation
from streamapp_operator.objects import pulling, service
from streamapp_operator.objects.embedded import state_claim
from streamapp_operator.objects.environment import code_volume, variables
from streamapp_operator.objects.merging import merged
from streamapp_operator.objects.owned import Role, labels, selector
from streamapp_operator.objects.secrets import secret_volumes
from streamapp_operator.objects.security import container_security, pod_security
from streamapp_operator.objects.state_volume import MOUNT, StateVolume, location_provider, state_volume

CONTAINER = "driver"
ACCEPTED = "streamapp-accepted"
ACCEPTED_MOUNT = "/etc/streamapp/accepted"
GRACE_SECONDS = 60
"""For the running batch to end and stores to be closed; a lane that takes longer is fenced later."""


def driver_template(app: StreamApp, installation: Installation) -> dict[str, Any]:
    """A pod template; the user's own is beneath it."""
    name = app.metadata.name
    image = pulling.image(app, installation)
    state = _state(app, image)
    code_volumes, code_mounts = code_volume(app)
    secrets, secret_mounts = secret_volumes(app)
    mounts = [{"name": ACCEPTED, "mountPath": ACCEPTED_MOUNT, "readOnly": True}]
    container = {
        "name": CONTAINER,
        "image": image,
        "imagePullPolicy": pulling.policy(app, installation),
        "args": ["streamapp", "drive"],
        "env": [*variables(app), *_facts(app)],
        "ports": [
            {"name": port, "containerPort": number, "protocol": "TCP"}
            for port, number in service.PORTS.items()
        ],
        "resources": _resources(app, installation),
        "securityContext": container_security(),
        "terminationMessagePath": places.TERMINATION,
        "terminationMessagePolicy": "File",
        "volumeMounts": [*mounts, *state.mounts, *code_mounts, *secret_mounts],
    }
    ours: dict[str, Any] = {
        "metadata": {"labels": labels(name, Role.DRIVER)},
        "spec": {
            "restartPolicy": "Never",  # the operator starts the next one, under another incarnation
            "enableServiceLinks": False,
            "automountServiceAccountToken": True,
            "serviceAccountName": app.spec.service_account_name or naming.driver_account(name),
            "subdomain": naming.service(name),
            "terminationGracePeriodSeconds": GRACE_SECONDS,
            "securityContext": pod_security(),
            "containers": [container],
            "volumes": [*state.volumes, *code_volumes, *secrets],
        },
    }
    if state.init_containers:
        ours["spec"]["initContainers"] = list(state.init_containers)
    if secrets_to_pull := pulling.secrets(app, installation):
        ours["spec"]["imagePullSecrets"] = [{"name": one} for one in secrets_to_pull]
    return merged(app.spec.driver.template, ours)


def _state(app: StreamApp, image: str) -> StateVolume:
    """Only an embedded log, and the stores beside it, are in the driver's own pod."""
    if not is_embedded(app):
        return StateVolume()
    return state_claim(app) if app.spec.state.persistent_volume_claim else state_volume(app, image)


def _resources(app: StreamApp, installation: Installation) -> dict[str, Any]:
    asked = app.spec.driver.resources
    found: dict[str, Any] = {"requests": {**installation.driver_requests, **asked.requests}}
    if asked.limits:
        found["limits"] = dict(asked.limits)
    return found


def _facts(app: StreamApp) -> list[dict[str, Any]]:
    """What the driver has to know of where it runs."""
    name = app.metadata.name
    fields = {
        "STREAMAPP_POD": "metadata.name",
        "STREAMAPP_POD_UID": "metadata.uid",
        "STREAMAPP_NAMESPACE": "metadata.namespace",
        "STREAMAPP_NODE": "spec.nodeName",
    }
    fixed = {
        "STREAMAPP_APPLICATION_ID": app.application_id,
        "STREAMAPP_ACCEPTED": ACCEPTED_MOUNT,
        "STREAMAPP_WANTED": naming.job_model(name),
        "STREAMAPP_REPORT": naming.report(name),
        "STREAMAPP_STATE": MOUNT,
        "STREAMAPP_EXECUTORS": ",".join(
            f"{key}={value}" for key, value in selector(name, Role.EXECUTOR).items()
        ),
        "STREAMAPP_LOCATION": location_provider(app),
    }
    return [
        *({"name": key, "value": value} for key, value in fixed.items()),
        *({"name": key, "valueFrom": {"fieldRef": {"fieldPath": path}}} for key, path in fields.items()),
    ]
