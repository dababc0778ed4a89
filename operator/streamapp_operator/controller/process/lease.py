"""The Lease object of the leader election: its fields, and the next version to write."""

from dataclasses import dataclass
from datetime import datetime

from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.controller.client.resource_kinds import LEASE


@dataclass(frozen=True, slots=True)
class LeaseTerms:
    """The durations of the election, in seconds."""

    duration: float = 10.0  # other replicas wait so long after the last renewal that they observed
    deadline: float = 6.0  # the leader stops after so long without a renewal
    retry: float = 2.0  # between two tries, and the time limit of one try


def lease_holder(lease: Manifest) -> str:
    """The holder's identity; empty where nobody holds the lease."""
    return lease.get("spec", {}).get("holderIdentity") or ""


def lease_duration(lease: Manifest, terms: LeaseTerms) -> float:
    """The duration that the holder wrote, in seconds."""
    return float(lease.get("spec", {}).get("leaseDurationSeconds") or terms.duration)


def lease_version(lease: Manifest) -> str:
    """The version of the object, which changes with each write."""
    return str(lease["metadata"]["resourceVersion"])


def new_lease(namespace: str, name: str) -> Manifest:
    """A lease that nobody holds."""
    return {
        "apiVersion": LEASE.api_version,
        "kind": LEASE.name,
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"leaseTransitions": 0},
    }


def renewed_lease(lease: Manifest, identity: str, terms: LeaseTerms, now: datetime) -> Manifest:
    """The lease as its new or present holder writes it."""
    spec = dict(lease.get("spec", {}))
    timestamp = f"{now:%Y-%m-%dT%H:%M:%S.%fZ}"
    if lease_holder(lease) != identity:
        spec |= {"acquireTime": timestamp, "leaseTransitions": spec.get("leaseTransitions", 0) + 1}
    spec |= {
        "holderIdentity": identity,
        "leaseDurationSeconds": round(terms.duration),
        "renewTime": timestamp,
    }
    return lease | {"spec": spec}


def released_lease(lease: Manifest, now: datetime) -> Manifest:
    """The lease after its holder has released it: any replica may take it at once."""
    spec = lease["spec"] | {
        "holderIdentity": "",
        "leaseDurationSeconds": 1,
        "renewTime": f"{now:%Y-%m-%dT%H:%M:%S.%fZ}",
    }
    return lease | {"spec": spec}
