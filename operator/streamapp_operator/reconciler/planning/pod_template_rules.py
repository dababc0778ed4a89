"""The fields of a pod template that an app may set: an allow list, so that new fields are refused.

Fields that give power over the node or over other accounts need an allowance of the installation.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from streamapp.spec.problem import Problem, nearest
from streamapp.spec.reasons import Reason
from streamapp_operator.reconciler.installation import Allowance, Installation

_TOP = ("metadata", "spec")
_METADATA = ("annotations", "labels")
_POD = (
    "affinity", "containers", "dnsConfig", "dnsPolicy", "hostAliases", "imagePullSecrets", "initContainers",
    "nodeSelector", "preemptionPolicy", "priorityClassName", "runtimeClassName", "schedulerName",
    "securityContext", "terminationGracePeriodSeconds", "tolerations", "topologySpreadConstraints", "volumes",
)  # fmt: skip
_CONTAINER = (
    "args", "command", "env", "envFrom", "image", "imagePullPolicy", "lifecycle", "livenessProbe", "name",
    "ports", "readinessProbe", "resources", "restartPolicy", "securityContext", "startupProbe",
    "volumeMounts", "workingDir",
)  # fmt: skip
_OWN_CONTAINER = ("env", "envFrom", "name", "securityContext", "volumeMounts")
"""Of the container that the operator fills; its size is in `resources`, beside the template."""
_VOLUME = (
    "configMap", "downwardAPI", "emptyDir", "ephemeral", "name", "persistentVolumeClaim", "projected",
    "secret",
)  # fmt: skip
_SECURITY = (
    "allowPrivilegeEscalation", "capabilities", "fsGroup", "fsGroupChangePolicy", "privileged",
    "readOnlyRootFilesystem", "runAsGroup", "runAsNonRoot", "runAsUser", "seccompProfile",
    "supplementalGroups",
)  # fmt: skip
_HOST_NAMESPACES = {"hostNetwork", "hostPID", "hostIPC", "hostUsers"}
_ACCOUNTS = {"serviceAccountName", "serviceAccount", "automountServiceAccountToken"}

PathMessages = Iterator[tuple[str, str]]


def template_problems(
    template: Mapping[str, Any], path: str, own_container: str, installation: Installation
) -> list[Problem]:
    """The problems of a template; `own_container` is the container that the operator fills."""
    rules = _Rules(own_container, installation)
    return [
        Problem(0, 0, field_path, message, Reason.NOT_ALLOWED)
        for field_path, message in rules.messages(template, path)
    ]


class _Rules:
    def __init__(self, own_container: str, installation: Installation) -> None:
        self._own_container = own_container
        self._installation = installation

    def messages(self, template: Mapping[str, Any], path: str) -> PathMessages:
        yield from _unknown(template, path, _TOP)
        yield from _mapping(template.get("metadata"), f"{path}.metadata", _METADATA)
        spec, spec_path = template.get("spec"), f"{path}.spec"
        if spec is None:
            return
        if not isinstance(spec, dict):
            yield spec_path, "a mapping has to stand here"
            return
        yield from self._pod(spec, spec_path)

    def _pod(self, spec: dict[str, Any], path: str) -> PathMessages:
        needing = {**dict.fromkeys(_HOST_NAMESPACES, Allowance.HOST_NAMESPACES)}
        needing |= dict.fromkeys(_ACCOUNTS, Allowance.SERVICE_ACCOUNTS)
        for name in sorted(spec.keys() & needing.keys()):
            if spec[name] not in (None, False) or name in _ACCOUNTS:
                yield from self._disallowed(needing[name], f"{path}.{name}")
        yield from _unknown({k: v for k, v in spec.items() if k not in needing}, path, _POD)
        yield from self._security(spec.get("securityContext"), f"{path}.securityContext")
        for field in ("containers", "initContainers"):
            for index, container in enumerate(_entries(spec.get(field))):
                yield from self._container(container, f"{path}.{field}[{index}]")
        for index, volume in enumerate(_entries(spec.get("volumes"))):
            yield from self._volume(volume, f"{path}.volumes[{index}]")

    def _container(self, container: Any, path: str) -> PathMessages:
        if not (isinstance(container, dict) and isinstance(container.get("name"), str)):
            yield path, "a container with a name has to stand here"
            return
        is_own = container["name"] == self._own_container
        yield from _unknown(container, path, _OWN_CONTAINER if is_own else _CONTAINER)
        yield from self._security(container.get("securityContext"), f"{path}.securityContext")
        for index, port in enumerate(_entries(container.get("ports"))):
            if isinstance(port, dict) and port.get("hostPort"):
                yield from self._disallowed(Allowance.HOST_NAMESPACES, f"{path}.ports[{index}].hostPort")

    def _volume(self, volume: Any, path: str) -> PathMessages:
        if not (isinstance(volume, dict) and isinstance(volume.get("name"), str)):
            yield path, "a volume with a name has to stand here"
            return
        if volume["name"].startswith("streamapp-"):
            yield f"{path}.name", 'names that begin with "streamapp-" are the operator\'s'
        if "hostPath" in volume:
            yield from self._disallowed(Allowance.HOST_PATH, f"{path}.hostPath")
        yield from _unknown({k: v for k, v in volume.items() if k != "hostPath"}, path, _VOLUME)
        for index, source in enumerate(_entries((volume.get("projected") or {}).get("sources"))):
            if isinstance(source, dict) and "serviceAccountToken" in source:
                token_path = f"{path}.projected.sources[{index}].serviceAccountToken"
                yield from self._disallowed(Allowance.SERVICE_ACCOUNTS, token_path)

    def _security(self, context: Any, path: str) -> PathMessages:
        yield from _mapping(context, path, _SECURITY)
        if not isinstance(context, dict) or self._installation.allows(Allowance.PRIVILEGED):
            return
        for name in ("privileged", "allowPrivilegeEscalation"):
            if context.get(name):
                yield from self._disallowed(Allowance.PRIVILEGED, f"{path}.{name}")
        if (context.get("capabilities") or {}).get("add"):
            yield from self._disallowed(Allowance.PRIVILEGED, f"{path}.capabilities.add")
        if context.get("runAsUser") == 0 or context.get("runAsNonRoot") is False:
            field = "runAsUser" if context.get("runAsUser") == 0 else "runAsNonRoot"
            yield from self._disallowed(Allowance.PRIVILEGED, f"{path}.{field}")

    def _disallowed(self, allowance: Allowance, path: str) -> PathMessages:
        if not self._installation.allows(allowance):
            yield path, f"this installation does not allow {allowance}; leave it out"


def _entries(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _mapping(value: Any, path: str, allowed: tuple[str, ...]) -> PathMessages:
    if value is None:
        return
    if not isinstance(value, dict):
        yield path, "a mapping has to stand here"
    else:
        yield from _unknown(value, path, allowed)


def _unknown(fields: Mapping[str, Any], path: str, allowed: tuple[str, ...]) -> PathMessages:
    for name in fields:
        if name not in allowed:
            yield f"{path}.{name}", f"a pod template may not set this{nearest(name, allowed)}"
