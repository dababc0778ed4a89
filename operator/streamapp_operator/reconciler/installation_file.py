"""Reads an installation from a YAML file; each problem has its path."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any, Final

import yaml
from pydantic import Field, ValidationError

from streamapp.spec.problem import Problem, nearest, short
from streamapp.spec.resource.base import Part, field_texts
from streamapp.spec.resource.runtime_policies import Logging
from streamapp.spec.text.document import dotted
from streamapp_operator.controller.client.api_types import EGRESS_RULE, NETWORK_PEER, type_problems
from streamapp_operator.reconciler.installation import (
    Allowance,
    AllowLists,
    AppNetworkRules,
    Installation,
    nested_roots,
)

_NONE = Installation()
_LISTS = _NONE.allow_lists


class AllowedFields(Part):
    """The values that resources may set and the objects that they may name."""

    features: tuple[Allowance, ...] = ()
    """What pod templates may ask for: hostNamespaces, privileged, hostPath, serviceAccounts."""
    images: tuple[str, ...] = _LISTS.images
    """Images, each by the beginning of its name: a registry, a folder in it, or a repository."""
    secrets: tuple[str, ...] = _LISTS.secrets
    """Secrets, by patterns with `*`."""
    config_maps: tuple[str, ...] = _LISTS.config_maps
    """ConfigMaps, by patterns."""
    claims: tuple[str, ...] = _LISTS.claims
    """Volume claims that templates may mount, by patterns."""
    service_accounts: tuple[str, ...] = _LISTS.service_accounts
    """Accounts for `spec.serviceAccountName`, by patterns; with the feature `serviceAccounts` any."""
    volumes: tuple[str, ...] = _LISTS.volumes
    """Kinds of volumes in templates, such as `emptyDir`; a hostPath needs its feature as well."""
    account_annotations: tuple[str, ...] = _LISTS.account_annotations
    """Annotations of apps' accounts, by patterns of `name=value`; none by default."""
    hosts: tuple[str, ...] = _LISTS.hosts
    """Hosts that the operator may ask for an OAUTHBEARER token of an app, by patterns; none by default."""


class AppNetworkPolicyFields(Part):
    """The NetworkPolicy that each app has."""

    enabled: bool = False
    """Whether the operator makes one for each app; a change counts for running apps at once."""
    scrapers: tuple[Mapping[str, Any], ...] = ()
    """Peers that may read drivers' metrics, as in `from` of a NetworkPolicy; empty: the whole cluster."""
    viewers: tuple[Mapping[str, Any], ...] = ()
    """Peers that may read Spark's pages; empty: none, and `kubectl port-forward` works all the same."""
    egress: tuple[Mapping[str, Any], ...] = ()
    """Peers of apps in addition to DNS and their own pods: API server, brokers; empty: everything."""


class InstallationFile(Part):
    """The fields of the file; each may be left out."""

    image: str = _NONE.image
    """Image of drivers and executors, for apps that name none."""
    image_pull_policy: str = Field(_NONE.image_pull_policy, pattern="^(Always|IfNotPresent|Never)$")
    """When that image is pulled."""
    image_pull_secrets: tuple[str, ...] = _NONE.image_pull_secrets
    """Secrets, in the namespace of each app, to pull images with for apps that name none."""
    host_path_roots: tuple[str, ...] = _NONE.host_path_roots
    """Folders of nodes in which apps may keep state, each in its own folder; none by default."""
    allowed: AllowedFields = AllowedFields()
    """The values that resources may set and the objects that they may name; see below."""
    driver_requests: Mapping[str, str] = _NONE.driver_requests
    """Resources of drivers that ask for none."""
    executor_requests: Mapping[str, str] = _NONE.executor_requests
    """Resources of executors that ask for none."""
    storage_class: str = _NONE.storage_class
    """Storage class of claims that name none; the cluster's default when unset."""
    spark_conf: Mapping[str, str] = _NONE.spark_conf
    """Spark settings of all apps, below their own."""
    logging: Logging = Logging()
    """What apps log, and how: `format`, `level`, `sparkLevel` and `loggers`, as `spec.logging` has them."""
    network_policy: AppNetworkPolicyFields = AppNetworkPolicyFields()
    """Which NetworkPolicy each app has; see below. It is not kept with a generation."""


_SECTIONS: Final[Mapping[str, type[Part]]] = {
    "allowed": AllowedFields,
    "logging": Logging,
    "networkPolicy": AppNetworkPolicyFields,
}


def read_installation(
    text: str, image: str | None = None, operator_class: str | None = None
) -> Installation | tuple[Problem, ...]:
    """An installation, or all problems of the file. The argument `image` takes precedence over the file's."""
    try:
        document = yaml.safe_load(text) or {}
    except yaml.YAMLError as error:
        return (Problem(0, 0, "", f"this is no YAML: {short(str(error), 200)}"),)
    try:
        file = InstallationFile.model_validate_json(json.dumps(document))
    except (ValidationError, TypeError) as error:
        return _problems(error)
    if problems := tuple(_network_problems(file.network_policy)):
        return problems
    if nested := nested_roots(file.host_path_roots):
        return (Problem(0, 0, "hostPathRoots", nested),)
    return Installation(
        image=image or file.image,
        image_pull_policy=file.image_pull_policy,
        image_pull_secrets=file.image_pull_secrets,
        operator_class=operator_class,
        host_path_roots=file.host_path_roots,
        allowed=frozenset(file.allowed.features),
        allow_lists=AllowLists(
            **{entry.name: getattr(file.allowed, entry.name) for entry in fields(AllowLists)}
        ),
        driver_requests=file.driver_requests,
        executor_requests=file.executor_requests,
        storage_class=file.storage_class,
        spark_conf=file.spark_conf,
        logging=file.logging,
        network_rules=_network_rules(file.network_policy),
    )


def _network_problems(policy: AppNetworkPolicyFields) -> Iterator[Problem]:
    for name, (entries, api_type) in {
        "scrapers": (policy.scrapers, NETWORK_PEER),
        "viewers": (policy.viewers, NETWORK_PEER),
        "egress": (policy.egress, EGRESS_RULE),
    }.items():
        for index, entry in enumerate(entries):
            for path, message in type_problems(api_type, entry, f"networkPolicy.{name}[{index}]"):
                yield Problem(0, 0, path, message)


def _network_rules(policy: AppNetworkPolicyFields) -> AppNetworkRules | None:
    return AppNetworkRules(policy.scrapers, policy.viewers, policy.egress) if policy.enabled else None


def _problems(error: ValidationError | TypeError) -> tuple[Problem, ...]:
    if isinstance(error, TypeError):
        return (Problem(0, 0, "", f"this is no document of plain values: {error}"),)
    problems = []
    for detail in error.errors():
        path = dotted(detail["loc"])
        model = _SECTIONS.get(path.partition(".")[0], InstallationFile) if "." in path else InstallationFile
        field_names = tuple(info.alias or name for name, info in model.model_fields.items())
        message = detail["msg"][:1].lower() + detail["msg"][1:]
        if detail["type"] == "extra_forbidden":
            message = f"there is no such field{nearest(path.rpartition('.')[2], field_names)}"
        problems.append(Problem(0, 0, path, message))
    return tuple(sorted(problems))


def page() -> str:
    """The reference page."""
    sections = [*_HEAD, *_rows(InstallationFile()), *_ALLOWED_HEAD, *_rows(AllowedFields())]
    return "\n".join([*sections, *_NETWORK_HEAD, *_rows(AppNetworkPolicyFields()), ""])


def _rows(part: Part) -> Iterator[str]:
    defaults = part.model_dump(mode="json", by_alias=True)
    for name, info in type(part).model_fields.items():
        default = defaults[info.alias or name]
        is_shown = default and not isinstance(getattr(part, name), Part)
        default_text = f"`{json.dumps(default)}`" if is_shown else ""
        yield f"| `{info.alias or name}` | {default_text} | {field_texts(type(part))[name]} |"


_HEAD = (
    "# The installation file",
    "",
    "`streamapp operator --installation FILE` reads defaults for all apps, and what apps may ask for, from a",
    "YAML file. They are looked at when a generation of an app is accepted, and kept with it: another file,",
    "or another version of the operator, restarts nothing.",
    "",
    "| Field | Default | What it says |",
    "| --- | --- | --- |",
)

_ALLOWED_HEAD = (
    "",
    "## What resources may name: `allowed`",
    "",
    "A resource that names something else is refused with `OutsideAllowList`, and what it names is not read.",
    "A pattern is a name in which `*` stands for any characters. An image may be followed by `/`, a tag or a",
    "digest: `registry.example/team` allows `registry.example/team/app:1`, but no `registry.example/teams`.",
    "The installation's own image and pull Secrets are always allowed.",
    "",
    "| Field | Default | What it says |",
    "| --- | --- | --- |",
)

_NETWORK_HEAD = (
    "",
    "## Who may reach the pods of apps: `networkPolicy`",
    "",
    "The operator makes the NetworkPolicy `<app>-pods`, restores it when it is deleted or changed, and",
    "deletes it when this is turned off. Policies add up: another one of a namespace opens more for an app.",
    "",
    "| Field | Default | What it says |",
    "| --- | --- | --- |",
)
