"""The options of an operator process."""

from dataclasses import dataclass, field
from pathlib import Path

from streamapp_operator.controller.process.lease import LeaseTerms
from streamapp_operator.controller.watch.watch_timeouts import WatchTimeouts


@dataclass(frozen=True, slots=True)
class OperatorOptions:
    """The options, as the command line gives them."""

    namespaces: tuple[str, ...] = ()  # empty: all
    kubeconfig: Path | None = None
    context: str | None = None
    operator_class: str | None = None
    lease_namespace: str = ""  # empty: the operator's own namespace, else the first watched one
    identity: str = ""
    host: str | None = "127.0.0.1"  # None: all addresses, as probes and scrapes in a cluster need
    port: int = 8080
    apps_page: bool = False  # whether the page of all apps is served
    page_port: int = 8081  # of that page: who may open it need not reach the metrics
    workers: int = 16
    lease_terms: LeaseTerms = field(default_factory=LeaseTerms)
    watch_timeouts: WatchTimeouts = field(default_factory=WatchTimeouts)

    @property
    def lease_name(self) -> str:
        """The Lease's name: operators of different classes lead independently."""
        return f"streamapp-operator-{self.operator_class}" if self.operator_class else "streamapp-operator"


_POD_NAMESPACE_FILE = Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace")


def lease_namespace(options: OperatorOptions) -> str:
    """The namespace of the Lease: the configured one, the pod's own, or the first watched one."""
    if options.lease_namespace:
        return options.lease_namespace
    if not options.kubeconfig and _POD_NAMESPACE_FILE.exists():
        return _POD_NAMESPACE_FILE.read_text(encoding="utf-8").strip()
    return options.namespaces[0] if options.namespaces else "default"
