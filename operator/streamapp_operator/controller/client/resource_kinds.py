"""The kinds of objects that the operator reads or writes, and the verbs of RBAC."""

from dataclasses import dataclass
from enum import StrEnum

from streamapp.spec.resource.app import GROUP, KIND, VERSION


class Verb(StrEnum):
    """The verbs of RBAC."""

    GET = "get"
    LIST = "list"
    WATCH = "watch"
    CREATE = "create"
    PATCH = "patch"
    UPDATE = "update"
    DELETE = "delete"


@dataclass(frozen=True, slots=True)
class ResourceKind:
    """One kind of object."""

    name: str
    group: str
    version: str
    plural: str
    namespaced: bool = True

    @property
    def api_version(self) -> str:
        """The `apiVersion` of objects of this kind."""
        return f"{self.group}/{self.version}" if self.group else self.version


STREAM_APP = ResourceKind(KIND, GROUP, VERSION, "streamapps")
POD = ResourceKind("Pod", "", "v1", "pods")
CONFIG_MAP = ResourceKind("ConfigMap", "", "v1", "configmaps")
SECRET = ResourceKind("Secret", "", "v1", "secrets")
SERVICE = ResourceKind("Service", "", "v1", "services")
SERVICE_ACCOUNT = ResourceKind("ServiceAccount", "", "v1", "serviceaccounts")
VOLUME_CLAIM = ResourceKind("PersistentVolumeClaim", "", "v1", "persistentvolumeclaims")
STORAGE_CLASS = ResourceKind("StorageClass", "storage.k8s.io", "v1", "storageclasses", namespaced=False)
NODE = ResourceKind("Node", "", "v1", "nodes", namespaced=False)
EVENT = ResourceKind("Event", "", "v1", "events")
STATEFUL_SET = ResourceKind("StatefulSet", "apps", "v1", "statefulsets")
CONTROLLER_REVISION = ResourceKind("ControllerRevision", "apps", "v1", "controllerrevisions")
ROLE = ResourceKind("Role", "rbac.authorization.k8s.io", "v1", "roles")
ROLE_BINDING = ResourceKind("RoleBinding", "rbac.authorization.k8s.io", "v1", "rolebindings")
NETWORK_POLICY = ResourceKind("NetworkPolicy", "networking.k8s.io", "v1", "networkpolicies")
LEASE = ResourceKind("Lease", "coordination.k8s.io", "v1", "leases")
TOKEN_REVIEW = ResourceKind("TokenReview", "authentication.k8s.io", "v1", "tokenreviews", namespaced=False)
SUBJECT_ACCESS_REVIEW = ResourceKind(
    "SubjectAccessReview", "authorization.k8s.io", "v1", "subjectaccessreviews", namespaced=False
)

KINDS = (
    STREAM_APP, POD, CONFIG_MAP, SECRET, SERVICE, SERVICE_ACCOUNT, VOLUME_CLAIM, STORAGE_CLASS, NODE, EVENT,
    STATEFUL_SET, CONTROLLER_REVISION, ROLE, ROLE_BINDING, NETWORK_POLICY, LEASE,
    TOKEN_REVIEW, SUBJECT_ACCESS_REVIEW,
)  # fmt: skip
_BY_NAME = {(kind.api_version, kind.name): kind for kind in KINDS}


def kind_of(manifest: dict[str, object]) -> ResourceKind:
    """The kind of an object, by its `apiVersion` and `kind`."""
    return _BY_NAME[str(manifest["apiVersion"]), str(manifest["kind"])]
