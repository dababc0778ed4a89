"""Merges the operator's pod template over the user's: the operator's fields win, but for security contexts.

To a user's tolerations those of a lost node are added: how long a pod stays bound to it. And to the options
of name resolution how long a name server is waited for: the one that was asked may be on the lost node.

What a security context may say was checked when the generation was accepted; the operator adds the rest.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

NODE_SECONDS: Final = 30
"""Kubernetes itself waits five minutes. The engine's fences keep a pod that still runs there from harm."""
_TAINTS: Final = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
NAME_SERVER_OPTIONS: Final = {"timeout": "1", "attempts": "2"}
"""Resolvers have five seconds and two attempts by themselves. Both attempts reach the same server behind the
cluster's address, and the search domains come one after the other."""
_KEYS = {
    "containers": "name",
    "initContainers": "name",
    "volumes": "name",
    "env": "name",
    "volumeMounts": "mountPath",
    "ports": "name",
    "imagePullSecrets": "name",
}
"""Lists whose entries are merged by a key; all other lists are replaced."""


def merge_template(user_template: Mapping[str, Any], overlay: Mapping[str, Any]) -> dict[str, Any]:
    """The overlay merged over the user's template, by mappings and by keyed entries."""
    merged = dict(user_template)
    for name, value in overlay.items():
        merged[name] = _value(name, merged.get(name), value)
    return merged


def restricted_containers(user_template: Mapping[str, Any], context: Mapping[str, Any]) -> dict[str, Any]:
    """The user's template, each container of it with all of this security context that it says nothing of."""
    spec = user_template.get("spec") or {}
    containers = {
        name: [
            {**one, "securityContext": _security_context(one.get("securityContext") or {}, context)}
            for one in spec[name]
        ]
        for name in ("containers", "initContainers")
        if spec.get(name)
    }
    return {**user_template, "spec": {**spec, **containers}} if containers else dict(user_template)


def _value(name: str, user_value: Any, overlay: Any) -> Any:
    if name == "securityContext" and isinstance(user_value, Mapping):
        return _security_context(user_value, overlay)
    if isinstance(user_value, Mapping) and isinstance(overlay, Mapping):
        return merge_template(user_value, overlay)
    if isinstance(user_value, list) and isinstance(overlay, list) and name in _KEYS:
        return _entries(user_value, overlay, _KEYS[name])
    return overlay


def _security_context(user_value: Mapping[str, Any], overlay: Mapping[str, Any]) -> dict[str, Any]:
    """The user's context over the operator's. All capabilities are dropped, whichever the user names."""
    merged = merge_template(overlay, user_value)
    if "capabilities" in overlay:
        merged["capabilities"] = {**(user_value.get("capabilities") or {}), **overlay["capabilities"]}
    if user_value.get("privileged") and "allowPrivilegeEscalation" not in user_value:
        merged.pop("allowPrivilegeEscalation", None)  # which a privileged container cannot be without
    return merged


def _entries(user_entries: Iterable[Any], overlay: Iterable[Any], key: str) -> list[Any]:
    merged = {entry[key]: entry for entry in user_entries}
    for entry in overlay:
        user_entry = merged.get(entry[key])
        merged[entry[key]] = merge_template(user_entry, entry) if user_entry else entry
    return list(merged.values())


def name_resolution(user_template: Mapping[str, Any]) -> dict[str, Any]:
    """The DNS configuration of a pod: the user's own, with further options that it leaves out."""
    user_config = (user_template.get("spec") or {}).get("dnsConfig") or {}
    options = list(user_config.get("options") or ())
    missing = NAME_SERVER_OPTIONS.keys() - {one.get("name") for one in options}
    more = [{"name": name, "value": value} for name, value in NAME_SERVER_OPTIONS.items() if name in missing]
    return {**user_config, "options": [*options, *more]}


def node_tolerations(user_template: Mapping[str, Any]) -> list[Any]:
    """The tolerations of a pod: the user's, and those of the taints of a lost node that these leave out."""
    user_tolerations = list((user_template.get("spec") or {}).get("tolerations") or ())
    tolerated = {one.get("key", "") for one in user_tolerations if isinstance(one, Mapping)}
    if "" in tolerated:  # every taint is
        return user_tolerations
    return user_tolerations + [
        {"key": taint, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": NODE_SECONDS}
        for taint in _TAINTS
        if taint not in tolerated
    ]


def node_spread(user_template: Mapping[str, Any], selector: Mapping[str, str]) -> list[Any]:
    """The spread of the pods that a selector selects: as the user's template says, else over nodes."""
    user_constraints = (user_template.get("spec") or {}).get("topologySpreadConstraints")
    if user_constraints is not None:
        return list(user_constraints)
    return [
        {
            "maxSkew": 1,
            "topologyKey": "kubernetes.io/hostname",
            "whenUnsatisfiable": "ScheduleAnyway",
            "labelSelector": {"matchLabels": dict(selector)},
        }
    ]
