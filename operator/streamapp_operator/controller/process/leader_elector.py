"""Who leads, by a Lease: every call bounded, and no doubt about when this replica has to stop.

What another replica's clock says never counts: it leads until its lease has not changed, before our own
eyes, for as long as it asked for. We lead from before the call that renewed our lease, and stop well before
others may take it.
"""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from streamapp_operator.controller.client.api_errors import ClusterError, LeadershipLostError, RejectedError
from streamapp_operator.controller.client.api_requests import ApiRequest, ApiTransport
from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.controller.client.object_paths import collection_path, object_path
from streamapp_operator.controller.client.resource_kinds import LEASE, Verb
from streamapp_operator.controller.process import lease as leases
from streamapp_operator.controller.process.lease import LeaseTerms

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class LeaderElector:
    """One replica's part in the election."""

    calls: ApiTransport  # its own: a pool that is busy with other calls must not cost the lead
    namespace: str
    name: str
    me: str
    clock: Callable[[], float]  # one that goes on while the machine sleeps
    now: Callable[[], datetime]
    terms: LeaseTerms = field(default_factory=LeaseTerms)
    _lease: Manifest | None = None  # as it was last seen
    _seen: float = 0.0  # when it was first seen like that
    _renewed: float | None = None  # when the call began that last made us, or kept us, leader

    def leads_for(self) -> float:
        """Seconds for which nobody else can lead; 0 as soon as this replica should have stopped."""
        if self._renewed is None:
            return 0.0
        since = self.clock() - self._renewed
        return 0.0 if since > self.terms.deadline else self.terms.duration - since

    @property
    def leads(self) -> bool:
        """Whether this replica leads now."""
        return self.leads_for() > 0

    async def campaign(self) -> None:
        """Come back when this replica leads, which may take for ever."""
        while not await self._try():
            await asyncio.sleep(self.terms.retry)
        _log.info("leading", extra={"identity": self.me})

    async def keep(self) -> None:
        """Go on leading; ends by an error when that is over."""
        pause = self.terms.retry
        while self.leads:
            await asyncio.sleep(pause)
            before = self._renewed
            await self._try()
            pause = self.terms.retry if self._renewed != before else self.terms.retry / 4
        self._renewed = None
        raise LeadershipLostError("the lease was not renewed in time, or is another replica's")

    async def release(self) -> None:
        """Let another replica lead at once."""
        if not self.leads or self._lease is None:
            return
        freed = leases.released_lease(self._lease, self.now())
        self._renewed = None
        try:
            await self._put(freed)
        except ClusterError as error:
            _log.warning("the lease could not be released: %s", error)

    async def _try(self) -> bool:
        """One try to take or keep the lease; whether it is ours."""
        began = self.clock()
        try:
            async with asyncio.timeout(self.terms.retry):
                ours = await self._take()
        except (ClusterError, TimeoutError) as error:
            if isinstance(error, RejectedError) and self._renewed is None:
                raise  # whoever may not lead at all should say so, and not wait for ever
            said = str(error) or f"nothing came within {self.terms.retry:g} s"
            _log.warning("no word about the lease: %s", said)
            return self.leads
        self._renewed = began if ours else None
        return ours

    async def _take(self) -> bool:
        for _ in range(2):
            if self._lease is None or leases.lease_holder(self._lease) != self.me:
                await self._look()
            if self._lease is None or not self._free(self._lease):
                return False
            put = await self._put(leases.renewed_lease(self._lease, self.me, self.terms, self.now()))
            if put is not None:
                self._lease = put
                return True
            self._lease = None  # changed: by another, or by a write of ours whose answer did not come
        return False

    def _free(self, lease: Manifest) -> bool:
        """Whether we may take it, or have it."""
        if leases.lease_holder(lease) in ("", self.me):
            return True
        return self.clock() - self._seen > leases.lease_duration(lease, self.terms)

    async def _look(self) -> None:
        """See the lease as it is; where there is none, make one."""
        reply = await self.calls.send(
            ApiRequest(Verb.GET, "GET", object_path(LEASE, self.namespace, self.name), expected=(404,))
        )
        if reply.code == 404:
            fresh = leases.new_lease(self.namespace, self.name)
            reply = await self.calls.send(
                ApiRequest(
                    Verb.CREATE, "POST", collection_path(LEASE, self.namespace), body=fresh, expected=(409,)
                )
            )
            if reply.code == 409:
                return
        if self._lease is None or leases.lease_version(self._lease) != leases.lease_version(reply.body):
            self._lease, self._seen = reply.body, self.clock()

    async def _put(self, lease: Manifest) -> Manifest | None:
        """Write the lease if it is still as it was seen; as it is then."""
        path = object_path(LEASE, self.namespace, self.name)
        reply = await self.calls.send(ApiRequest(Verb.UPDATE, "PUT", path, body=lease, expected=(404, 409)))
        return None if reply.code in (404, 409) else reply.body
