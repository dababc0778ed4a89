"""An installation's defaults and limits for all of its apps."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from streamapp.spec.resource.runtime_policies import Logging


class Allowance(StrEnum):
    """Features of pod templates that an installation has to allow."""

    HOST_NAMESPACES = "hostNamespaces"
    PRIVILEGED = "privileged"
    HOST_PATH = "hostPath"
    SERVICE_ACCOUNTS = "serviceAccounts"


ANY = ("*",)


@dataclass(frozen=True, slots=True)
class AllowLists:
    """The objects that resources may name, by patterns with `*`; images by the beginnings of their names."""

    images: tuple[str, ...] = ANY
    secrets: tuple[str, ...] = ANY
    config_maps: tuple[str, ...] = ANY
    claims: tuple[str, ...] = ANY
    service_accounts: tuple[str, ...] = ()
    volumes: tuple[str, ...] = ANY  # kinds, in pod templates
    account_annotations: tuple[str, ...] = ()  # each as `name=value`
    hosts: tuple[str, ...] = ()  # which the operator may ask for tokens, to log in to a broker


@dataclass(frozen=True, slots=True)
class AppNetworkRules:
    """The traffic that the NetworkPolicy of each app lets through, beside that between its own pods."""

    scrapers: tuple[Mapping[str, Any], ...] = ()  # peers that may read metrics; empty: the whole cluster
    viewers: tuple[Mapping[str, Any], ...] = ()  # peers that may read Spark's pages; empty: none
    egress: tuple[Mapping[str, Any], ...] = ()  # rules beside DNS; empty: everything may be reached


@dataclass(frozen=True, slots=True)
class Installation:
    """Defaults and limits, applied when a generation is accepted and not again; network rules always."""

    image: str = ""  # the runtime image; empty: each app has to name one
    image_pull_policy: str = "IfNotPresent"
    image_pull_secrets: tuple[str, ...] = ()  # in the app's namespace
    operator_class: str | None = None
    host_path_roots: tuple[str, ...] = ()
    allowed: frozenset[Allowance] = frozenset()
    allow_lists: AllowLists = field(default_factory=AllowLists)
    driver_requests: Mapping[str, str] = field(default_factory=lambda: {"cpu": "1", "memory": "2Gi"})
    executor_requests: Mapping[str, str] = field(default_factory=lambda: {"cpu": "1", "memory": "2Gi"})
    storage_class: str = ""  # for claims that name none; empty: the cluster's default
    spark_conf: Mapping[str, str] = field(default_factory=dict)
    logging: Logging = field(default_factory=Logging)  # of apps that leave it out
    network_rules: AppNetworkRules | None = None  # None: apps have no NetworkPolicy

    def allows(self, allowance: Allowance) -> bool:
        """True if apps may use this feature."""
        return allowance in self.allowed


def nested_roots(roots: Collection[str]) -> str | None:
    """The root that lies in another one, where it would be taken for a namespace; None where none does."""
    pairs = ((inner.rstrip("/"), outer.rstrip("/")) for inner in roots for outer in roots)
    nested = (pair for pair in pairs if pair[0].startswith(f"{pair[1]}/"))
    return next(
        (f"{inner} is inside {outer}; a root may not contain another root" for inner, outer in nested), None
    )
