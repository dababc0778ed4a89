"""The operator's rights by kind, each with its purpose: RBAC is generated from this table.

The operator needs every right that it grants to a driver: Kubernetes allows no escalation.
"""

from dataclasses import dataclass

from streamapp_operator.controller.client.resource_kinds import (
    CONFIG_MAP,
    CONTROLLER_REVISION,
    EVENT,
    LEASE,
    NETWORK_POLICY,
    NODE,
    POD,
    ROLE,
    ROLE_BINDING,
    SECRET,
    SERVICE,
    SERVICE_ACCOUNT,
    STATEFUL_SET,
    STORAGE_CLASS,
    STREAM_APP,
    SUBJECT_ACCESS_REVIEW,
    TOKEN_REVIEW,
    VOLUME_CLAIM,
    ResourceKind,
    Verb,
)

DELETE_MANY = "deletecollection"
_LOOK = (Verb.GET, Verb.LIST, Verb.WATCH)


@dataclass(frozen=True, slots=True)
class Right:
    """Verbs on one kind or on a subresource of it."""

    kind: ResourceKind
    verbs: tuple[str, ...]
    purpose: str
    subresource: str = ""
    lead_only: bool = False  # needed where the Lease is, and nowhere else
    page_only: bool = False  # needed where the operator serves the page of all apps

    @property
    def resource(self) -> str:
        """The resource's name in a role."""
        return f"{self.kind.plural}/{self.subresource}" if self.subresource else self.kind.plural


RIGHTS = (
    Right(STREAM_APP, _LOOK, "see what apps are wanted"),
    Right(STREAM_APP, (Verb.PATCH,), "say what became of them", subresource="status"),
    Right(STREAM_APP, (Verb.PATCH,), "set the processors of apps with `spec.autoscale`", subresource="scale"),
    Right(
        STREAM_APP,
        (Verb.UPDATE,),
        "own objects so that apps wait for them at deletion",
        subresource="finalizers",
    ),
    Right(
        POD,
        (*_LOOK, Verb.CREATE, Verb.PATCH, Verb.DELETE, DELETE_MANY),
        "start drivers, end them, see executors; and let drivers manage executors",
    ),
    Right(
        CONFIG_MAP,
        (*_LOOK, Verb.CREATE, Verb.PATCH, Verb.DELETE),
        "keep accepted generations, job models, reports and localities",
    ),
    Right(
        SECRET,
        (Verb.GET, Verb.CREATE),
        "look up partition counts with an app's own credentials, and make a secret for each run",
    ),
    Right(SERVICE, (*_LOOK, Verb.CREATE, Verb.PATCH, Verb.DELETE), "give driver pods a name"),
    Right(SERVICE_ACCOUNT, (*_LOOK, Verb.CREATE, Verb.PATCH), "give each app its own accounts"),
    Right(ROLE, (*_LOOK, Verb.CREATE, Verb.PATCH), "let a driver do what it has to"),
    Right(ROLE_BINDING, (*_LOOK, Verb.CREATE, Verb.PATCH), "give that role to the driver alone"),
    Right(
        NETWORK_POLICY,
        (*_LOOK, Verb.CREATE, Verb.PATCH, Verb.DELETE),
        "say who may reach the pods of an app, where the installation has rules for that",
    ),
    Right(
        VOLUME_CLAIM,
        (Verb.GET, Verb.LIST, Verb.CREATE, Verb.PATCH, Verb.DELETE),
        "see where volumes are, make that of an embedded log, and let them end with their app if it says so",
    ),
    Right(
        STATEFUL_SET,
        (*_LOOK, Verb.CREATE, Verb.PATCH, Verb.UPDATE, Verb.DELETE),
        "end executors with volumes; and let drivers manage them",
    ),
    Right(
        STATEFUL_SET,
        (Verb.GET, Verb.UPDATE),
        "let drivers say how many executors there are",
        subresource="scale",
    ),
    Right(
        CONTROLLER_REVISION,
        (*_LOOK, Verb.CREATE, Verb.PATCH, Verb.DELETE),
        "keep the specs that each app ran with",
    ),
    Right(STORAGE_CLASS, (Verb.LIST,), "find the default class for claims that name none"),
    Right(NODE, (Verb.GET,), "see whether a node still exists, and its labels where locations are labels"),
    Right(
        EVENT,
        (Verb.GET, Verb.LIST, Verb.CREATE, Verb.PATCH),
        "record events, and see why the volumes of a pod are not mounted",
    ),
    Right(LEASE, (Verb.GET, Verb.CREATE, Verb.UPDATE), "agree on who leads", lead_only=True),
    Right(TOKEN_REVIEW, (Verb.CREATE,), "ask who a viewer of the page of all apps is", page_only=True),
    Right(
        SUBJECT_ACCESS_REVIEW,
        (Verb.CREATE,),
        "ask of which namespaces that viewer may see the apps",
        page_only=True,
    ),
)
