"""The names in a resource: images, Secrets, ConfigMaps, claims, accounts and annotations, kinds of volumes.

An installation may allow some of them only. What is not allowed is neither mounted nor read by the operator.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from fnmatch import fnmatchcase
from typing import Any, Final

from streamapp.spec.problem import Problem, short
from streamapp.spec.reasons import Reason
from streamapp.spec.resource.app import StreamApp
from streamapp.spec.resource.kafka_settings import OAUTH_ENDPOINT
from streamapp_operator.reconciler.installation import Allowance, AllowLists, Installation


@dataclass(frozen=True, slots=True)
class NamedObject:
    """One name in a resource."""

    path: str
    allow_list: str  # a field of `AllowLists`
    name: str


_HOST: Final = re.compile("[A-Za-z0-9.-]+")
_PLAIN_URL: Final = re.compile(rf"https?://(?P<host>{_HOST.pattern})(:[0-9]+)?(/[!-~]*)?")
"""Every parser of URLs finds the same host in one of these."""
_NOUNS: Final = {
    "images": "image",
    "secrets": "Secret",
    "config_maps": "ConfigMap",
    "claims": "claim",
    "service_accounts": "service account",
    "volumes": "kind of volume",
    "account_annotations": "annotation of accounts",
    "hosts": "token endpoint at the host",
}
if _NOUNS.keys() != {entry.name for entry in fields(AllowLists)}:
    raise TypeError("a kind of named objects has no noun")


def outside_allow_lists(app: StreamApp, installation: Installation) -> Iterator[Problem]:
    """A problem for each name that the installation does not allow."""
    yield from not_allowed(named_objects(app), installation)


def not_allowed(names: Iterable[NamedObject], installation: Installation) -> Iterator[Problem]:
    """A problem for each of these names that the installation does not allow."""
    for named in names:
        patterns: tuple[str, ...] = getattr(installation.allow_lists, named.allow_list)
        if named.allow_list == "service_accounts" and installation.allows(Allowance.SERVICE_ACCOUNTS):
            continue
        if named.allow_list == "images" and named.name == installation.image:
            continue
        if not any(_matches(named, pattern) for pattern in patterns):
            noun, listed = _NOUNS[named.allow_list], ", ".join(patterns) or "none"
            message = f'this installation does not allow the {noun} "{short(named.name)}"; it allows {listed}'
            yield Problem(0, 0, named.path, message, Reason.OUTSIDE_ALLOW_LIST)


def named_objects(app: StreamApp) -> Iterator[NamedObject]:
    """All names, each at its path. Templates may be malformed; their types are checked elsewhere."""
    spec = app.spec
    if spec.image:
        yield NamedObject("spec.image", "images", spec.image)
    if spec.service_account_name:
        yield NamedObject("spec.serviceAccountName", "service_accounts", spec.service_account_name)
    if spec.code:
        yield NamedObject("spec.code.configMap", "config_maps", spec.code.config_map)
    for index, secret in enumerate(spec.image_pull_secrets):
        yield NamedObject(f"spec.imagePullSecrets[{index}].name", "secrets", secret.name)
    for index, system in enumerate(spec.systems):
        if system.config_secret:
            path = f"spec.systems[{index}].{system.kind}.configSecret.name"
            yield NamedObject(path, "secrets", system.config_secret.name)
        if system.kafka:
            path = f"spec.systems[{index}].kafka.config.{OAUTH_ENDPOINT}"
            yield from token_hosts(system.kafka.config, path)
    for role, annotations in (
        ("driver", spec.driver.service_account_annotations),
        ("executor", spec.executor.service_account_annotations),
    ):
        path = f"spec.{role}.serviceAccountAnnotations"
        for name, value in annotations.items():
            yield NamedObject(f"{path}.{name}", "account_annotations", f"{name}={value}")
    variables = [entry.model_dump(mode="json", by_alias=True, exclude_none=True) for entry in spec.env]
    yield from _variables({"env": variables}, "spec")
    for role, template in (("driver", spec.driver.template), ("executor", spec.executor.template)):
        pod_spec, path = _mapping(_mapping(template).get("spec")), f"spec.{role}.template.spec"
        yield from template_objects(pod_spec, path)
        yield from _copied_claims(pod_spec, path)


def token_hosts(settings: Mapping[str, str], path: str) -> Iterator[NamedObject]:
    """The host that a client with these settings asks for tokens: the operator's look-ups do so as well."""
    if endpoint := settings.get(OAUTH_ENDPOINT):
        url = _PLAIN_URL.fullmatch(endpoint)
        yield NamedObject(path, "hosts", url["host"].lower() if url else endpoint)


def _matches(named: NamedObject, pattern: str) -> bool:
    if named.allow_list == "hosts" and not _HOST.fullmatch(named.name):
        return False
    if named.allow_list != "images" or pattern == "*":
        return fnmatchcase(named.name, pattern)
    beginning = pattern.rstrip("/")
    rest = named.name.removeprefix(beginning)
    if not named.name.startswith(beginning):
        return False
    return rest == "" or rest[0] in "/@" or (rest[0] == ":" and "/" not in rest)  # else a registry's port


def template_objects(spec: Mapping[str, Any], path: str) -> Iterator[NamedObject]:
    """The objects that a pod of this spec runs, mounts and reads."""
    for field in ("containers", "initContainers"):
        for index, container in enumerate(_entries(spec, field)):
            container_path = f"{path}.{field}[{index}]"
            yield from _name(container, "image", container_path, "images")
            yield from _variables(container, container_path)
    for index, secret in enumerate(_entries(spec, "imagePullSecrets")):
        yield from _name(secret, "name", f"{path}.imagePullSecrets[{index}]", "secrets")
    for index, volume in enumerate(_entries(spec, "volumes")):
        yield from _volume(volume, f"{path}.volumes[{index}]")


def _variables(container: Mapping[str, Any], path: str) -> Iterator[NamedObject]:
    for index, source in enumerate(_entries(container, "envFrom")):
        source_path = f"{path}.envFrom[{index}]"
        yield from _name(_mapping(source.get("secretRef")), "name", f"{source_path}.secretRef", "secrets")
        config_map_path = f"{source_path}.configMapRef"
        yield from _name(_mapping(source.get("configMapRef")), "name", config_map_path, "config_maps")
    for index, variable in enumerate(_entries(container, "env")):
        source, source_path = _mapping(variable.get("valueFrom")), f"{path}.env[{index}].valueFrom"
        for field, allow_list in (("secretKeyRef", "secrets"), ("configMapKeyRef", "config_maps")):
            yield from _name(_mapping(source.get(field)), "name", f"{source_path}.{field}", allow_list)


def _volume(volume: Mapping[str, Any], path: str) -> Iterator[NamedObject]:
    for kind in volume:
        if kind != "name":
            yield NamedObject(f"{path}.{short(kind)}", "volumes", kind)
    yield from _name(_mapping(volume.get("secret")), "secretName", f"{path}.secret", "secrets")
    yield from _name(_mapping(volume.get("configMap")), "name", f"{path}.configMap", "config_maps")
    claim = _mapping(volume.get("persistentVolumeClaim"))
    yield from _name(claim, "claimName", f"{path}.persistentVolumeClaim", "claims")
    for index, source in enumerate(_entries(_mapping(volume.get("projected")), "sources")):
        for field, allow_list in (("secret", "secrets"), ("configMap", "config_maps")):
            source_path = f"{path}.projected.sources[{index}].{field}"
            yield from _name(_mapping(source.get(field)), "name", source_path, allow_list)


def _copied_claims(spec: Mapping[str, Any], path: str) -> Iterator[NamedObject]:
    """The claims of which those of ephemeral volumes are to be copies."""
    for index, volume in enumerate(_entries(spec, "volumes")):
        claim_template = _mapping(_mapping(volume.get("ephemeral")).get("volumeClaimTemplate"))
        for field in ("dataSource", "dataSourceRef"):
            source_path = f"{path}.volumes[{index}].ephemeral.volumeClaimTemplate.spec.{field}"
            source = _mapping(_mapping(claim_template.get("spec")).get(field))
            yield from _name(source, "name", source_path, "claims")


def _name(entry: Mapping[str, Any], field: str, path: str, allow_list: str) -> Iterator[NamedObject]:
    value = entry.get(field)
    if isinstance(value, str):
        yield NamedObject(f"{path}.{field}", allow_list, value)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _entries(parent: Mapping[str, Any], field: str) -> list[Mapping[str, Any]]:
    value = parent.get(field)
    return [_mapping(entry) for entry in value] if isinstance(value, list) else []
