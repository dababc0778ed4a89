"""The state of a pod, read from its object."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from streamapp.protocol.termination import Termination, termination_of
from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.reconciler.facts.timestamps import parse_timestamp
from streamapp_operator.reconciler.objects.object_names import driver_incarnation


class PodLifecycle(StrEnum):
    """The phases of a pod's life."""

    COMING = "coming"  # created, not running yet
    LIVING = "living"
    LEAVING = "leaving"  # being deleted, may still work
    ENDED = "ended"  # its containers have ended; the object still exists


ENDED_PHASES = {"Succeeded", "Failed"}
"""What Kubernetes calls a pod whose containers have ended for good."""
_KILLED = {128 + 9, 128 + 15}
"""What a container exits with that a signal has ended."""
HANG_SECONDS = 10.0
"""A container that was unready for so long before a signal ended it was ended for that."""


class StartReason(StrEnum):
    """Kubernetes' own words for what keeps a pod from starting."""

    CONTAINER_CREATING = "ContainerCreating"  # the one that is no trouble by itself
    CRASH_LOOP = "CrashLoopBackOff"
    CREATE_CONFIG = "CreateContainerConfigError"
    CREATE = "CreateContainerError"
    IMAGE_NEVER_PULLED = "ErrImageNeverPull"
    IMAGE_PULL = "ErrImagePull"
    IMAGE_PULL_BACK_OFF = "ImagePullBackOff"
    IMAGE_INSPECT = "ImageInspectError"
    IMAGE_NAME = "InvalidImageName"
    REGISTRY = "RegistryUnavailable"
    RUN = "RunContainerError"
    SIGNATURE = "SignatureValidationFailed"
    UNSCHEDULABLE = "Unschedulable"
    FAILED_MOUNT = "FailedMount"
    FAILED_ATTACH = "FailedAttachVolume"


VOLUME_REASONS = frozenset({StartReason.FAILED_MOUNT, StartReason.FAILED_ATTACH})
"""Those that only events tell: a pod whose volumes cannot be mounted says `ContainerCreating`."""
MOUNT_SECONDS = 5.0
"""How long a pod's volumes may take before its events are looked at, and how often they are."""
_NO_TROUBLE = frozenset({StartReason.CONTAINER_CREATING})
_START_REASONS = frozenset(StartReason)


@dataclass(frozen=True, slots=True)
class PodState:
    """A pod of an app."""

    name: str
    uid: str
    life: PodLifecycle
    node: str
    labels: Mapping[str, str]
    made_at: float
    scheduled_at: float | None
    started_at: float | None
    leaving_since: float | None  # the deadline of its deletion
    ended_at: float | None
    ending: Termination | None
    displaced: str  # why Kubernetes removed it: eviction, drain, preemption; empty otherwise
    trouble: str  # why it cannot start, as text; empty where no problem is known
    ready: bool  # whether it passes its readiness probe
    unready_since: float | None  # since when it is not ready
    silent_since: float | None  # since when its container fails the probes that it passed before
    hung_seconds: float | None  # for how long that was so when a signal ended it
    manifest: Manifest

    @property
    def awaits_container(self) -> bool:
        """True if a node has the pod and nothing is known to keep its container from starting."""
        return self.life is PodLifecycle.COMING and bool(self.node) and not self.trouble

    @property
    def owner_pod(self) -> str:
        """The uid of the driver's pod that owns an executor; empty for one of a StatefulSet."""
        owners = self.manifest["metadata"].get("ownerReferences") or ()
        return next((str(owner["uid"]) for owner in owners if owner["kind"] == "Pod"), "")


def live_driver(drivers: Iterable[PodState]) -> PodState | None:
    """The newest of these drivers that has not ended."""
    live_drivers = (pod for pod in drivers if pod.life is not PodLifecycle.ENDED)
    return max(live_drivers, key=incarnation_of, default=None)


def read_pod(manifest: Manifest, container: str) -> PodState:
    """The state of a pod by its main container."""
    metadata, status = manifest["metadata"], manifest.get("status") or {}
    container_status = _container_status(status, container)
    terminated = (container_status.get("state") or {}).get("terminated")
    running = (container_status.get("state") or {}).get("running")
    ended = status.get("phase") in ENDED_PHASES or terminated is not None
    started = (running or terminated or {}).get("startedAt")
    conditions = {condition["type"]: condition for condition in status.get("conditions") or ()}
    return PodState(
        name=metadata["name"],
        uid=metadata.get("uid", ""),
        life=_life(metadata, ended=ended, running=running is not None),
        node=(manifest.get("spec") or {}).get("nodeName", ""),
        labels=metadata.get("labels") or {},
        made_at=parse_timestamp(metadata.get("creationTimestamp")) or 0.0,
        scheduled_at=_scheduled_at(conditions),
        started_at=parse_timestamp(started),
        leaving_since=parse_timestamp(metadata.get("deletionTimestamp")),
        ended_at=_ended_at(metadata, terminated, conditions) if ended else None,
        ending=_ending(status, terminated) if ended else None,
        displaced=_displaced(status, conditions),
        trouble=_trouble(_waiting(status, container_status), conditions),
        ready=conditions.get("Ready", {}).get("status") == "True",
        unready_since=_unready_since(conditions),
        silent_since=_silent_since(conditions, running) if not container_status.get("ready", True) else None,
        hung_seconds=_hung_seconds(conditions, terminated),
        manifest=manifest,
    )


def volume_trouble(events: Iterable[Mapping[str, Any]]) -> str:
    """The last that events say of a pod's volumes; empty where they say nothing."""
    failures = [event for event in events if event.get("reason") in VOLUME_REASONS]
    last = max(failures, key=lambda event: str(event.get("lastTimestamp") or ""), default=None)
    return f"{last['reason']}: {last.get('message', '')}" if last is not None else ""


def _container_status(status: Mapping[str, Any], container: str) -> dict[str, Any]:
    matches = (
        container_status
        for container_status in status.get("containerStatuses") or ()
        if container_status.get("name") == container
    )
    return next(matches, {})


def _life(metadata: Mapping[str, Any], *, ended: bool, running: bool) -> PodLifecycle:
    if ended:
        return PodLifecycle.ENDED
    if metadata.get("deletionTimestamp"):
        return PodLifecycle.LEAVING
    return PodLifecycle.LIVING if running else PodLifecycle.COMING


def _ending(status: Mapping[str, Any], terminated: Mapping[str, Any] | None) -> Termination:
    if terminated is None:  # evicted before its container started, or its node was lost
        code = 0 if status.get("phase") == "Succeeded" else 1
        message = f"{status.get('reason') or 'Failed'}: {status.get('message') or 'the pod failed'}"
        return termination_of(code, "" if code == 0 else message)
    return termination_of(
        int(terminated.get("exitCode", 1)), str(terminated.get("message") or _kubelet_reason(terminated))
    )


def _kubelet_reason(terminated: Mapping[str, Any]) -> str:
    """The kubelet's reason for an end without a message of the driver, such as `OOMKilled`."""
    reason = terminated.get("reason")
    return str(reason) if reason not in {None, "Error", "Completed"} else ""


def _ended_at(
    metadata: Mapping[str, Any], terminated: Mapping[str, Any] | None, conditions: Mapping[str, Any]
) -> float:
    ready = conditions.get("Ready", {}).get("lastTransitionTime")
    finished_at = (terminated or {}).get("finishedAt") or ready or metadata.get("creationTimestamp")
    return parse_timestamp(finished_at) or 0.0


def _displaced(status: Mapping[str, Any], conditions: Mapping[str, Any]) -> str:
    target = conditions.get("DisruptionTarget")
    if target and target.get("status") == "True":
        return str(target.get("reason") or "Disrupted")
    return "Evicted" if status.get("reason") == "Evicted" else ""


def _waiting(status: Mapping[str, Any], main: Mapping[str, Any]) -> dict[str, Any]:
    """Why a container cannot start: the main one, or another one of its pod, which holds that one up."""
    others = (*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ()))
    for container_status in (main, *others):
        waiting: dict[str, Any] = (container_status.get("state") or {}).get("waiting") or {}
        if waiting.get("reason") in _START_REASONS - _NO_TROUBLE:
            return waiting
    return {}


def _trouble(waiting: Mapping[str, Any], conditions: Mapping[str, Any]) -> str:
    if waiting:
        return f"{waiting['reason']}: {waiting.get('message') or 'the container cannot start'}"
    scheduled = conditions.get("PodScheduled", {})
    if (scheduled.get("status"), scheduled.get("reason")) == ("False", StartReason.UNSCHEDULABLE):
        return f"{StartReason.UNSCHEDULABLE}: {scheduled.get('message') or 'no node takes the pod'}"
    return ""


def _scheduled_at(conditions: Mapping[str, Any]) -> float | None:
    scheduled = conditions.get("PodScheduled", {})
    return parse_timestamp(scheduled.get("lastTransitionTime")) if scheduled.get("status") == "True" else None


def _unready_since(conditions: Mapping[str, Any]) -> float | None:
    ready = conditions.get("Ready")
    if ready is None or ready.get("status") == "True":
        return None
    return parse_timestamp(ready.get("lastTransitionTime"))


def _silent_since(conditions: Mapping[str, Any], state: Mapping[str, Any] | None) -> float | None:
    """Since when a container that was ready is not; None for one that has yet to be, or is.

    Its pod became unready with the container, after the container began; both times are of one node's clock.
    """
    since, started_at = _unready_since(conditions), parse_timestamp((state or {}).get("startedAt"))
    return since if since is not None and started_at is not None and since > started_at else None


def _hung_seconds(conditions: Mapping[str, Any], terminated: Mapping[str, Any] | None) -> float | None:
    """For how long a container had been unready that a signal ended without a last word; None otherwise."""
    if terminated is None or terminated.get("exitCode") not in _KILLED:
        return None
    if terminated.get("message") or terminated.get("reason") == "OOMKilled":
        return None
    since, ended_at = _silent_since(conditions, terminated), parse_timestamp(terminated.get("finishedAt"))
    if since is None or ended_at is None or ended_at - since < HANG_SECONDS:
        return None
    return ended_at - since


def incarnation_of(pod: PodState) -> int:
    """The incarnation of a driver pod, by its name; 0 for a pod that the operator did not create."""
    return driver_incarnation(pod.name)
