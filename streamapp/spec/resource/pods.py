"""The shape of the driver's and the executors' pods, and the app's restarts after a failure."""

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from streamapp.spec.problem import short
from streamapp.spec.resource.base import Part
from streamapp.spec.resource.field_marks import Crd, Effect
from streamapp.spec.value_types.scalars import (
    ANNOTATION,
    LongDuration,
    Name,
    ObjectName,
    Quantity,
    ShortDuration,
    Text,
    Variable,
)

OPEN = Crd({"type": "object", "x-kubernetes-preserve-unknown-fields": True})


def _annotations(annotations: dict[str, str]) -> dict[str, str]:
    for name in annotations:
        if not re.search(ANNOTATION, name):
            text = "{name} is no name of an annotation, such as eks.amazonaws.com/role-arn"
            raise PydanticCustomError("annotation", text, {"name": f'"{short(name)}"'})
    return annotations


AccountAnnotations = Annotated[dict[str, Text], AfterValidator(_annotations), Crd({"maxProperties": 16})]
Settings = Annotated[dict[str, Text], Crd({"maxProperties": 256})]
Quantities = Annotated[dict[str, Quantity], Crd({"maxProperties": 16})]


class Resources(Part):
    """The requests and limits of a container."""

    requests: Quantities = {}
    """At least."""
    limits: Quantities = {}
    """At most."""


class Network(Part):
    """The connections between the driver and the executors of a run."""

    encryption: bool = False
    """Whether it is encrypted: Spark's RPC and blocks by AES-GCM, orders and reports of lanes by TLS 1.3."""


class Driver(Part):
    """The driver's pod."""

    resources: Resources = Resources()
    """Its CPU and memory."""
    template: Annotated[dict[str, Any], OPEN] = {}
    """A pod template to start from; host access is refused unless the installation allows it."""
    spark_conf: Settings = {}
    """Further Spark settings; those that StreamApp depends on are refused."""
    service_account_annotations: AccountAnnotations = {}
    """Annotations of the account that is made for the driver, by which clouds give it an identity."""
    lost_timeout: LongDuration = "10s"
    """When a driver whose node is not ready, or that is not gone in time, is given up and force-deleted."""
    standby: bool = False
    """Whether a second driver is kept warm, which takes over where the first one fails; takes its memory."""
    standby_executors: bool = False
    """Whether that driver has executors too, whose stores follow the app's; takes their resources again."""


class Executor(Part):
    """The executors' pods; one processor each."""

    resources: Resources = Resources()
    """CPU and memory of each."""
    template: Annotated[dict[str, Any], OPEN] = {}
    """A pod template to start from."""
    spark_conf: Settings = {}
    """Further Spark settings for executors."""
    service_account_annotations: AccountAnnotations = {}
    """Annotations of the executors' account."""
    start_timeout: Annotated[ShortDuration, Effect.LIVE] = "2m"
    """The first batch starts with those executors that came by then."""


class RestartPolicy(Part):
    """The restarts of a driver that ends."""

    type: Literal["Always", "OnFailure", "Never"] = "OnFailure"
    """Which endings are followed by a restart."""
    max_restarts: Annotated[int | None, Field(ge=0, le=1_000_000)] = None
    """Restarts until the app counts as failed; unset: no limit."""
    backoff: ShortDuration = "5s"
    """The wait before the first restart; it doubles each time."""
    max_backoff: ShortDuration = "5m"
    """The longest wait."""
    reset_after: LongDuration = "10m"
    """A run this long makes the count start again."""


class ConfigMapKeyRef(Part):
    """A key of a ConfigMap or Secret."""

    name: ObjectName
    """The object."""
    key: Annotated[str, Field(min_length=1, max_length=253, examples=["password"])]
    """The key in it."""


class EnvSource(Part):
    """The source of a variable's value."""

    config_map_key_ref: ConfigMapKeyRef | None = None
    """A ConfigMap."""
    secret_key_ref: ConfigMapKeyRef | None = None
    """A Secret."""


class EnvVar(Part):
    """An environment variable of driver and executors."""

    name: Variable
    """Its name."""
    value: Text | None = None
    """Its value."""
    value_from: EnvSource | None = None
    """Or where the value comes from."""


class PullSecret(Part):
    """A secret for pulling images."""

    name: Name
    """Its name."""


class Code(Part):
    """Python files that the app's `python:` references come from."""

    config_map: ObjectName
    """A ConfigMap; each key is a file."""
