"""The limits on the pods of a driver's executors, written where only the operator and its betters write.

The limits are an annotation of the binding that gives the driver its rights. The chart's
ValidatingAdmissionPolicies hold pods and StatefulSets of the driver's token to them. One line is one limit:
a kind, `/`, and what may be named.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, Final

from streamapp_operator.reconciler.named_objects import template_objects
from streamapp_operator.reconciler.objects import object_names

LIMITS_ANNOTATION: Final = "streamapp.dev/executor-limits"
STATE_OWNER: Final = "streamapp-state-owner"
"""The init container of the operator's own that is root: its command is a limit of its own."""
_NAMED: Final = {"images": "image", "secrets": "secret", "config_maps": "configMap", "claims": "claim"}
"""The kinds of limits, by the allow list that has the same names."""
_TOKEN_SOURCE: Final = "serviceAccountToken"  # noqa: S105 - a field of a volume
IDENTITY_SOURCES: Final = (_TOKEN_SOURCE, "podCertificate")
"""Sources of volumes by which a pod proves to others which account it has."""
_CONFINED: Final = ("RuntimeDefault", "Localhost")


def executor_limits(run_uid: str, templates: Iterable[Mapping[str, Any]], *, token_volumes: bool) -> str:
    """The limits as the annotation's text: all that the templates of an app's executors name.

    With `token_volumes` a webhook may add a token of the executors' account, which a cloud takes for an
    identity; in the cluster the account has no rights.
    """
    limits = {limit for template in templates for limit in _limits(run_uid, template)}
    if token_volumes:
        limits.add(f"power/{_TOKEN_SOURCE}")
    return "\n".join(sorted(limit for limit in limits if "\n" not in limit))


def _limits(run_uid: str, template: Mapping[str, Any]) -> Iterator[str]:
    spec = template["spec"]
    spark_app = object_names.spark_app(run_uid)
    labels = {**(template.get("metadata") or {}).get("labels", {}), "spark-app-selector": spark_app}
    yield from (f"label/{name}={value}" for name, value in {**labels, "spark-role": "executor"}.items())
    yield f"account/{spec['serviceAccountName']}"
    yield f"set/{object_names.executor_set(run_uid)}"
    containers = [*spec["containers"], *(spec.get("initContainers") or ())]
    for named in template_objects(spec, ""):
        if named.allow_list in _NAMED:
            yield f"{_NAMED[named.allow_list]}/{named.name}"
    yield from chain.from_iterable(_volume(volume) for volume in spec.get("volumes") or ())
    yield from (f"power/{name}" for name in ("hostNetwork", "hostPID", "hostIPC") if spec.get(name))
    yield from _powers(spec, containers)
    yield from (
        f"stateOwner/{' '.join(container['command'])}"
        for container in containers
        if container["name"] == STATE_OWNER
    )
    for name in ("priorityClassName", "runtimeClassName"):
        if spec.get(name):
            yield f"{name}/{spec[name]}"


def _volume(volume: Mapping[str, Any]) -> Iterator[str]:
    if volume.get("hostPath"):
        yield f"hostPath/{volume['hostPath']['path']}"
    if volume.get("ephemeral"):
        yield "power/ephemeral"
    for source in (volume.get("projected") or {}).get("sources") or ():
        yield from (f"power/{identity}" for identity in IDENTITY_SOURCES if source.get(identity))


def _powers(spec: Mapping[str, Any], containers: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """The powers beyond the restricted standard, where the template has them."""
    pod = spec.get("securityContext") or {}
    if pod.get("runAsUser") == 0 or not pod.get("runAsNonRoot"):
        yield "power/root"
    if (pod.get("seccompProfile") or {}).get("type") not in _CONFINED:
        yield "power/unconfined"
    for container in containers:
        if container["name"] == STATE_OWNER:
            continue
        context = container.get("securityContext") or {}
        if context.get("privileged"):
            yield "power/privileged"
        if "ALL" not in ((context.get("capabilities") or {}).get("drop") or ()):
            yield "power/capabilities"
        if context.get("allowPrivilegeEscalation") is not False:
            yield "power/allowPrivilegeEscalation"
        if context.get("runAsUser") == 0 or context.get("runAsNonRoot") is False:
            yield "power/root"
        if (context.get("seccompProfile") or {"type": _CONFINED[0]}).get("type") not in _CONFINED:
            yield "power/unconfined"
        for capability in (context.get("capabilities") or {}).get("add") or ():
            yield f"capability/{capability}"
        if any(port.get("hostPort") for port in container.get("ports") or ()):
            yield "power/hostPort"
