"""What an installation of the operator decides for all apps that it looks after."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Allowance(StrEnum):
    """What pod templates may only ask for where the installation lets them."""

    HOST_NAMESPACES = "hostNamespaces"
    PRIVILEGED = "privileged"
    HOST_PATH = "hostPath"
    SERVICE_ACCOUNTS = "serviceAccounts"


@dataclass(frozen=True, slots=True)
class Installation:
    """Defaults and limits. They are looked at when a generation is accepted, and not again."""

    image: str = ""  # the runtime's; empty: each app has to name one
    image_pull_policy: str = "IfNotPresent"
    image_pull_secrets: tuple[str, ...] = ()  # of the app's namespace
    operator_class: str | None = None
    host_path_roots: tuple[str, ...] = ()
    allowed: frozenset[Allowance] = frozenset()
    driver_requests: Mapping[str, str] = field(default_factory=lambda: {"cpu": "1", "memory": "2Gi"})
    executor_requests: Mapping[str, str] = field(default_factory=lambda: {"cpu": "1", "memory": "2Gi"})
    storage_class: str = ""  # of claims that name none; empty: the default of the cluster
    spark_conf: Mapping[str, str] = field(default_factory=dict)

    def allows(self, what: Allowance) -> bool:
        """Whether apps may ask for this."""
        return what in self.allowed
