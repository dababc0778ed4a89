"""The Lease by which replicas agree on who leads: what it says, and what it should say next."""

from dataclasses import dataclass
from datetime import datetime

from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.controller.client.resource_kinds import LEASE


@dataclass(frozen=True, slots=True)
class LeaseTerms:
    """For how long what holds, in seconds."""

    duration: float = 10.0  # others wait so long after the last renewal that they saw
    deadline: float = 6.0  # without a renewal for so long, the one who leads stops
    retry: float = 2.0  # between two tries, and the most that one may take


def lease_holder(lease: Manifest) -> str:
    """Who holds it; nobody is an empty name."""
    return lease.get("spec", {}).get("holderIdentity") or ""


def lease_duration(lease: Manifest, terms: LeaseTerms) -> float:
    """For how long its holder wants to be believed."""
    return float(lease.get("spec", {}).get("leaseDurationSeconds") or terms.duration)


def lease_version(lease: Manifest) -> str:
    """Another one after each change."""
    return str(lease["metadata"]["resourceVersion"])


def new_lease(namespace: str, name: str) -> Manifest:
    """A lease that nobody holds."""
    return {
        "apiVersion": LEASE.api_version,
        "kind": LEASE.name,
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"leaseTransitions": 0},
    }


def renewed_lease(lease: Manifest, me: str, terms: LeaseTerms, now: datetime) -> Manifest:
    """The lease as its holder from now on, or still, writes it."""
    spec = dict(lease.get("spec", {}))
    at = f"{now:%Y-%m-%dT%H:%M:%S.%fZ}"
    if lease_holder(lease) != me:
        spec |= {"acquireTime": at, "leaseTransitions": spec.get("leaseTransitions", 0) + 1}
    spec |= {"holderIdentity": me, "leaseDurationSeconds": round(terms.duration), "renewTime": at}
    return lease | {"spec": spec}


def released_lease(lease: Manifest, now: datetime) -> Manifest:
    """The lease as one leaves it who leads no more: whoever wants may take it at once."""
    spec = lease["spec"] | {
        "holderIdentity": "",
        "leaseDurationSeconds": 1,
        "renewTime": f"{now:%Y-%m-%dT%H:%M:%S.%fZ}",
    }
    return lease | {"spec": spec}
