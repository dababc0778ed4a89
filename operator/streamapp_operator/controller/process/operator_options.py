"""How an operator is started."""

from dataclasses import dataclass, field
from pathlib import Path

from streamapp_operator.controller.process.lease import LeaseTerms
from streamapp_operator.controller.watch.watch_timeouts import WatchTimeouts


@dataclass(frozen=True, slots=True)
class OperatorOptions:
    """What the command line says."""

    namespaces: tuple[str, ...] = ()  # none: all
    kubeconfig: Path | None = None
    context: str | None = None
    operator_class: str | None = None
    lease_namespace: str = ""  # empty: the one that the operator runs in, or watches
    identity: str = ""
    host: str | None = "127.0.0.1"  # none: all addresses, as probes and scrapes in a cluster need
    port: int = 8080
    workers: int = 16
    terms: LeaseTerms = field(default_factory=LeaseTerms)
    patience: WatchTimeouts = field(default_factory=WatchTimeouts)

    @property
    def lease_name(self) -> str:
        """Installations of another class lead beside this one."""
        return f"streamapp-operator-{self.operator_class}" if self.operator_class else "streamapp-operator"


_OF_POD = Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace")


def lease_namespace(options: OperatorOptions) -> str:
    """The one that is named, that this pod runs in, or that is watched."""
    if options.lease_namespace:
        return options.lease_namespace
    if not options.kubeconfig and _OF_POD.exists():
        return _OF_POD.read_text(encoding="utf-8").strip()
    return options.namespaces[0] if options.namespaces else "default"
