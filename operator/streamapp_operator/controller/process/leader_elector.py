"""Leader election by a Lease: every request has a time limit, and the end of this replica's lead is certain.

Another replica's clock never counts: that replica leads until this one has observed its lease unchanged
for the lease's duration. This replica's lead counts from the start of the request that renewed the lease,
and ends well before another replica may take the lease.
"""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from streamapp_operator.controller.client.api_errors import ClusterError, LeadershipLostError, RejectedError
from streamapp_operator.controller.client.api_requests import ApiRequest, ApiTransport
from streamapp_operator.controller.client.manifest import Manifest, collection_path, object_path
from streamapp_operator.controller.client.resource_kinds import LEASE, Verb
from streamapp_operator.controller.process import lease as leases
from streamapp_operator.controller.process.lease import LeaseTerms

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class LeaderElector:
    """One replica's part in the election."""

    transport: ApiTransport  # a pool of its own: other requests must not delay a renewal
    namespace: str
    name: str
    identity: str
    clock: Callable[[], float]  # counts on while the machine sleeps
    now: Callable[[], datetime]
    terms: LeaseTerms = field(default_factory=LeaseTerms)
    _lease: Manifest | None = None  # as last read
    _observed_at: float = 0.0  # when this version of the lease was first read
    _renewed_at: float | None = None  # the start of the last request that acquired or renewed the lease

    def leads_for(self) -> float:
        """Seconds for which no other replica can lead; 0 once this replica has to stop."""
        if self._renewed_at is None:
            return 0.0
        since = self.clock() - self._renewed_at
        return 0.0 if since > self.terms.deadline else self.terms.duration - since

    @property
    def leads(self) -> bool:
        """True if this replica leads now."""
        return self.leads_for() > 0

    async def campaign(self) -> None:
        """Wait until this replica leads."""
        while not await self._try_acquire():
            await asyncio.sleep(self.terms.retry)
        _log.info("leading", extra={"identity": self.identity})

    async def keep_leading(self) -> None:
        """Renew the lease until it is lost; ends with a `LeadershipLostError`."""
        pause = self.terms.retry
        while self.leads:
            await asyncio.sleep(pause)
            renewed_before = self._renewed_at
            await self._try_acquire()
            pause = self.terms.retry if self._renewed_at != renewed_before else self.terms.retry / 4
        self._renewed_at = None
        raise LeadershipLostError("the lease was not renewed in time, or is another replica's")

    async def release(self) -> None:
        """Let another replica lead at once."""
        if not self.leads or self._lease is None:
            return
        released = leases.released_lease(self._lease, self.now())
        self._renewed_at = None
        try:
            await self._write_lease(released)
        except ClusterError as error:
            _log.warning("the lease could not be released: %s", error)

    async def _try_acquire(self) -> bool:
        """Try once to acquire or renew the lease; returns whether this replica holds it."""
        began = self.clock()
        try:
            async with asyncio.timeout(self.terms.retry):
                acquired = await self._acquire()
        except (ClusterError, TimeoutError) as error:
            if isinstance(error, RejectedError) and self._renewed_at is None:
                raise  # without the right to lead the process has to fail, not to wait for ever
            detail = str(error) or f"nothing came within {self.terms.retry:g} s"
            _log.warning("no word about the lease: %s", detail)
            return self.leads
        self._renewed_at = began if acquired else None
        return acquired

    async def _acquire(self) -> bool:
        for _ in range(2):
            if self._lease is None or leases.lease_holder(self._lease) != self.identity:
                await self._read_lease()
            if self._lease is None or not self._is_available(self._lease):
                return False
            written = await self._write_lease(
                leases.renewed_lease(self._lease, self.identity, self.terms, self.now())
            )
            if written is not None:
                self._lease = written
                return True
            self._lease = None  # changed by another replica, or by an own write whose reply was lost
        return False

    def _is_available(self, lease: Manifest) -> bool:
        """True if this replica holds the lease or may take it."""
        if leases.lease_holder(lease) in ("", self.identity):
            return True
        return self.clock() - self._observed_at > leases.lease_duration(lease, self.terms)

    async def _read_lease(self) -> None:
        """Read the lease; create it where there is none."""
        reply = await self.transport.send(
            ApiRequest(Verb.GET, "GET", object_path(LEASE, self.namespace, self.name), expected=(404,))
        )
        if reply.code == 404:
            new_lease = leases.new_lease(self.namespace, self.name)
            reply = await self.transport.send(
                ApiRequest(
                    Verb.CREATE,
                    "POST",
                    collection_path(LEASE, self.namespace),
                    body=new_lease,
                    expected=(409,),
                )
            )
            if reply.code == 409:
                return
        if self._lease is None or leases.lease_version(self._lease) != leases.lease_version(reply.body):
            self._lease, self._observed_at = reply.body, self.clock()

    async def _write_lease(self, lease: Manifest) -> Manifest | None:
        """Write the lease if it has not changed since it was read; returns the written lease."""
        path = object_path(LEASE, self.namespace, self.name)
        reply = await self.transport.send(
            ApiRequest(Verb.UPDATE, "PUT", path, body=lease, expected=(404, 409))
        )
        return None if reply.code in (404, 409) else reply.body
