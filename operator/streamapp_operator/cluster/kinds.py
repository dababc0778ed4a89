"""The kinds of objects the operator deals with, and what it does to each: RBAC is generated from this."""

from dataclasses import dataclass
from enum import StrEnum

from streamapp.spec.app import GROUP, KIND, VERSION


class Verb(StrEnum):
    """What RBAC calls the things one can do to an object."""

    GET = "get"
    LIST = "list"
    WATCH = "watch"
    CREATE = "create"
    PATCH = "patch"
    UPDATE = "update"
    DELETE = "delete"


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of object."""

    name: str
    group: str
    version: str
    plural: str
    namespaced: bool = True

    @property
    def api_version(self) -> str:
        """As an object of this kind says it."""
        return f"{self.group}/{self.version}" if self.group else self.version


STREAM_APP = Kind(KIND, GROUP, VERSION, "streamapps")
POD = Kind("Pod", "", "v1", "pods")
CONFIG_MAP = Kind("ConfigMap", "", "v1", "configmaps")
SECRET = Kind("Secret", "", "v1", "secrets")
SERVICE = Kind("Service", "", "v1", "services")
SERVICE_ACCOUNT = Kind("ServiceAccount", "", "v1", "serviceaccounts")
CLAIM = Kind("PersistentVolumeClaim", "", "v1", "persistentvolumeclaims")
STORAGE_CLASS = Kind("StorageClass", "storage.k8s.io", "v1", "storageclasses", namespaced=False)
NODE = Kind("Node", "", "v1", "nodes", namespaced=False)
EVENT = Kind("Event", "", "v1", "events")
STATEFUL_SET = Kind("StatefulSet", "apps", "v1", "statefulsets")
ROLE = Kind("Role", "rbac.authorization.k8s.io", "v1", "roles")
ROLE_BINDING = Kind("RoleBinding", "rbac.authorization.k8s.io", "v1", "rolebindings")
LEASE = Kind("Lease", "coordination.k8s.io", "v1", "leases")

KINDS = (
    STREAM_APP, POD, CONFIG_MAP, SECRET, SERVICE, SERVICE_ACCOUNT, CLAIM, STORAGE_CLASS, NODE, EVENT,
    STATEFUL_SET, ROLE, ROLE_BINDING, LEASE,
)  # fmt: skip
_BY_NAME = {(kind.api_version, kind.name): kind for kind in KINDS}


def kind_of(manifest: dict[str, object]) -> Kind:
    """The kind of an object, by what it says of itself."""
    return _BY_NAME[str(manifest["apiVersion"]), str(manifest["kind"])]
