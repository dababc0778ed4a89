"""The fields of a pod template that an app may set: an allow list, so that new fields are refused.

Fields that give power over the node or over other accounts need an allowance of the installation.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from streamapp.protocol.message_names import STATE_ACCESS_VARIABLE
from streamapp.spec.problem import Problem, nearest, short
from streamapp.spec.reasons import Reason
from streamapp_operator.controller.client.api_types import pod_template_problems
from streamapp_operator.reconciler.installation import Allowance, Installation
from streamapp_operator.reconciler.objects.executor_limits import IDENTITY_SOURCES

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
_OPERATOR_PREFIX = "streamapp-"
VARIABLE_PREFIX = "STREAMAPP_"
_HOST_NAMESPACES = {"hostNetwork", "hostPID", "hostIPC", "hostUsers"}
_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_HOOKS = ("postStart", "preStop")
_ACCOUNTS = {"serviceAccountName", "serviceAccount", "automountServiceAccountToken"}

OWN_VARIABLE = f'variables that begin with "{VARIABLE_PREFIX}" are the operator\'s; take another name'

_ASKED_BY_NODE = "the node would ask this host, and not the pod; leave it out"

PathMessages = Iterator[tuple[str, str]]


def is_own_variable(name: str) -> bool:
    """True if a variable is the operator's, so that no app may set it."""
    return name.startswith(VARIABLE_PREFIX) and name != STATE_ACCESS_VARIABLE


def template_problems(
    template: Mapping[str, Any], path: str, own_container: str, installation: Installation
) -> list[Problem]:
    """The problems of a template; `own_container` is the container that the operator fills."""
    rules = _Rules(own_container, installation)
    problems = [
        Problem(0, 0, field_path, message, Reason.NOT_ALLOWED)
        for field_path, message in rules.messages(template, path)
    ]
    problems += [Problem(0, 0, *problem) for problem in _repeated_names(template, path)]
    reported_paths = {problem.path for problem in problems}
    return problems + [
        Problem(0, 0, field_path, message)
        for field_path, message in pod_template_problems(template, path)
        if field_path not in reported_paths
    ]


def own_variable_problems(
    template: Mapping[str, Any], path: str, own_container: str, set_elsewhere: Mapping[str, str]
) -> Iterator[Problem]:
    """Variables of the operator's container that are set elsewhere; of two entries a merge would make one."""
    for index, container in enumerate(_mappings(_mapping(template.get("spec")).get("containers"))):
        if container.get("name") != own_container:
            continue
        for number, entry in enumerate(_mappings(container.get("env"))):
            name, entry_path = entry.get("name"), f"{path}.spec.containers[{index}].env[{number}].name"
            if isinstance(name, str) and name in set_elsewhere:
                message = f'the variable "{short(name)}" is set by {set_elsewhere[name]}; leave it out here'
                yield Problem(0, 0, entry_path, message, Reason.NOT_ALLOWED)
            elif isinstance(name, str) and is_own_variable(name):
                yield Problem(0, 0, entry_path, OWN_VARIABLE, Reason.NOT_ALLOWED)


class _Rules:
    def __init__(self, own_container: str, installation: Installation) -> None:
        self._own_container = own_container
        self._installation = installation

    def messages(self, template: Mapping[str, Any], path: str) -> PathMessages:
        yield from _unknown(template, path, _TOP)
        yield from _unknown(_mapping(template.get("metadata")), f"{path}.metadata", _METADATA)
        yield from self._pod(_mapping(template.get("spec")), f"{path}.spec")

    def _pod(self, spec: Mapping[str, Any], path: str) -> PathMessages:
        needing = {**dict.fromkeys(_HOST_NAMESPACES, Allowance.HOST_NAMESPACES)}
        needing |= dict.fromkeys(_ACCOUNTS, Allowance.SERVICE_ACCOUNTS)
        for name in sorted(spec.keys() & needing.keys()):
            if spec[name] not in (None, False) or name in _ACCOUNTS:
                yield from self._disallowed(needing[name], f"{path}.{name}")
        yield from _unknown({k: v for k, v in spec.items() if k not in needing}, path, _POD)
        yield from self._security(_mapping(spec.get("securityContext")), f"{path}.securityContext")
        for index, container in enumerate(_mappings(spec.get("containers"))):
            is_own = container.get("name") == self._own_container
            yield from self._container(container, f"{path}.containers[{index}]", is_own=is_own)
        for index, container in enumerate(_mappings(spec.get("initContainers"))):
            if container.get("name") == self._own_container:
                yield (
                    f"{path}.initContainers[{index}].name",
                    "this is the name of the operator's own container",
                )
            yield from self._container(container, f"{path}.initContainers[{index}]", is_own=False)
        for index, volume in enumerate(_mappings(spec.get("volumes"))):
            yield from self._volume(volume, f"{path}.volumes[{index}]")
        for index, secret in enumerate(_mappings(spec.get("imagePullSecrets"))):
            if not secret.get("name"):
                yield f"{path}.imagePullSecrets[{index}].name", "missing; name the Secret"

    def _container(self, container: Mapping[str, Any], path: str, *, is_own: bool) -> PathMessages:
        yield from _reserved_name(container, path)
        yield from _unknown(container, path, _OWN_CONTAINER if is_own else _CONTAINER)
        yield from self._security(_mapping(container.get("securityContext")), f"{path}.securityContext")
        for index, port in enumerate(_mappings(container.get("ports"))):
            if port.get("hostPort"):
                yield from self._disallowed(Allowance.HOST_NAMESPACES, f"{path}.ports[{index}].hostPort")

        handlers = [(f"{path}.{name}", _mapping(container.get(name))) for name in _PROBES]
        lifecycle = _mapping(container.get("lifecycle"))
        handlers += [(f"{path}.lifecycle.{name}", _mapping(lifecycle.get(name))) for name in _HOOKS]
        for handler_path, handler in handlers:
            for action in ("httpGet", "tcpSocket"):
                if _mapping(handler.get(action)).get("host"):
                    yield f"{handler_path}.{action}.host", _ASKED_BY_NODE

    def _volume(self, volume: Mapping[str, Any], path: str) -> PathMessages:
        yield from _reserved_name(volume, path)
        if "hostPath" in volume:
            yield from self._disallowed(Allowance.HOST_PATH, f"{path}.hostPath")
        yield from _unknown({k: v for k, v in volume.items() if k != "hostPath"}, path, _VOLUME)
        for index, source in enumerate(_mappings(_mapping(volume.get("projected")).get("sources"))):
            for identity in sorted(source.keys() & IDENTITY_SOURCES):
                source_path = f"{path}.projected.sources[{index}].{identity}"
                yield from self._disallowed(Allowance.SERVICE_ACCOUNTS, source_path)

    def _security(self, context: Mapping[str, Any], path: str) -> PathMessages:
        yield from _unknown(context, path, _SECURITY)
        if self._installation.allows(Allowance.PRIVILEGED):
            return
        for name in ("privileged", "allowPrivilegeEscalation"):
            if context.get(name):
                yield from self._disallowed(Allowance.PRIVILEGED, f"{path}.{name}")
        if _mapping(context.get("capabilities")).get("add"):
            yield from self._disallowed(Allowance.PRIVILEGED, f"{path}.capabilities.add")
        if _mapping(context.get("seccompProfile")).get("type") == "Unconfined":
            yield from self._disallowed(Allowance.PRIVILEGED, f"{path}.seccompProfile.type")
        if context.get("runAsUser") == 0 or context.get("runAsNonRoot") is False:
            field = "runAsUser" if context.get("runAsUser") == 0 else "runAsNonRoot"
            yield from self._disallowed(Allowance.PRIVILEGED, f"{path}.{field}")

    def _disallowed(self, allowance: Allowance, path: str) -> PathMessages:
        if not self._installation.allows(allowance):
            yield path, f"this installation does not allow {allowance}; leave it out"


def _mapping(value: Any) -> Mapping[str, Any]:
    """The mapping; an empty one for a value of another type, which the types of the API refuse."""
    return value if isinstance(value, dict) else {}


def _mappings(value: Any) -> Iterable[Mapping[str, Any]]:
    """The entries of a list as mappings, in their places."""
    return map(_mapping, value) if isinstance(value, list) else ()


def _reserved_name(entry: Mapping[str, Any], path: str) -> PathMessages:
    if str(entry.get("name")).startswith(_OPERATOR_PREFIX):
        yield f"{path}.name", f'names that begin with "{_OPERATOR_PREFIX}" are the operator\'s'


def _repeated_names(template: Mapping[str, Any], path: str) -> PathMessages:
    """Entries that a pod may have once, of which the merge with the operator's template would drop one."""
    spec = _mapping(template.get("spec"))
    containers = [
        (f"{path}.spec.{field}[{index}]", container)
        for field in ("containers", "initContainers")
        for index, container in enumerate(_mappings(spec.get(field)))
    ]
    yield from _repeated(containers, "name")
    volumes = enumerate(_mappings(spec.get("volumes")))
    yield from _repeated([(f"{path}.spec.volumes[{index}]", volume) for index, volume in volumes], "name")
    for container_path, container in containers:
        mounts = enumerate(_mappings(container.get("volumeMounts")))
        mount_entries = [(f"{container_path}.volumeMounts[{index}]", mount) for index, mount in mounts]
        yield from _repeated(mount_entries, "mountPath")


def _repeated(entries: list[tuple[str, Mapping[str, Any]]], key: str) -> PathMessages:
    first_paths: dict[str, str] = {}
    for path, entry in entries:
        value = entry.get(key)
        if not isinstance(value, str):
            continue
        if value in first_paths:
            yield (
                f"{path}.{key}",
                f'"{short(value)}" is already at {first_paths[value]}; leave one of them out',
            )
        first_paths.setdefault(value, path)


def _unknown(fields: Mapping[str, Any], path: str, allowed: tuple[str, ...]) -> PathMessages:
    for name in fields:
        if name not in allowed:
            yield f"{path}.{short(name)}", f"a pod template may not set this{nearest(name, allowed)}"
