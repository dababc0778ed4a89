"""Many apps on an API server: applied, seen to get drivers, and run as kubelets and drivers would."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

import aiohttp

from streamapp.protocol import message_names
from streamapp.protocol.driver_report import DriverState, ExecutorBinding, Report
from streamapp.protocol.report_codec import encode_report
from streamapp.protocol.wanted_state import decode_wanted
from tests.harness.api_server.api_server import ApiServer
from tests.harness.api_server.api_sessions import session_to
from tests.harness.operator.small_apps import join

NAMESPACE = "default"
AT_ONCE = 16
CORE = f"/api/v1/namespaces/{NAMESPACE}"
APPS = f"/apis/streamapp.dev/v1alpha1/namespaces/{NAMESPACE}/streamapps"
DRIVERS = "labelSelector=streamapp.dev/role=driver"


@dataclass(slots=True)
class Fleet:
    """The apps of one measurement, by name."""

    url: str
    session: aiohttp.ClientSession
    applied: dict[str, float] = field(default_factory=dict)
    driven: dict[str, float] = field(default_factory=dict)  # when its driver pod was first seen
    drivers: dict[str, list[str]] = field(default_factory=dict)

    async def ask(self, method: str, path: str, body: Any = None, kind: str = "application/json") -> Any:
        """One call."""
        data = None if body is None else json.dumps(body)
        async with self.session.request(
            method, self.url + path, data=data, headers={"Content-Type": kind}
        ) as reply:
            said = await reply.json()
            if reply.status >= 400:
                raise RuntimeError(f"{method} {path}: {said.get('message')}")
            return said

    async def apply(self, names: Iterable[str], every: float = 0.0) -> None:
        """Make apps, at most so many at once, or one in so many seconds."""
        few = asyncio.Semaphore(AT_ONCE)

        async def one(name: str) -> None:
            async with few:
                self.applied[name] = monotonic()
                await self.ask("POST", APPS, join(name))

        async with asyncio.TaskGroup() as group:
            for name in names:
                group.create_task(one(name))
                if every:
                    await asyncio.sleep(every)

    async def see(self) -> None:
        """Watch driver pods come, for ever; an API server ends a watch when it likes."""
        while True:
            with suppress(aiohttp.ClientError):
                await self._watch_drivers()
            await asyncio.sleep(0.1)

    async def _watch_drivers(self) -> None:
        timeout = aiohttp.ClientTimeout(total=None)
        path = f"{self.url}{CORE}/pods?watch=1&{DRIVERS}"
        async with self.session.get(path, timeout=timeout) as reply:
            async for line in reply.content:
                event = json.loads(line)
                if event["type"] == "ADDED":
                    metadata = event["object"]["metadata"]
                    name = metadata["labels"]["streamapp.dev/app"]
                    self.driven.setdefault(name, monotonic())
                    pods = self.drivers.setdefault(name, [])
                    if metadata["name"] not in pods:
                        pods.append(metadata["name"])

    async def until_driven(self, names: Iterable[str], limit: float) -> None:
        """Come back when all of them have a driver pod."""
        async with asyncio.timeout(limit):
            while not self.driven.keys() >= set(names):
                await asyncio.sleep(0.02)

    async def run(self, names: Iterable[str]) -> None:
        """Every driver pod runs, and says that it does what it was told to."""
        few = asyncio.Semaphore(AT_ONCE)

        async def one(name: str) -> None:
            async with few:
                await self._run(name, self.drivers[name][-1])

        async with asyncio.TaskGroup() as group:
            for name in names:
                group.create_task(one(name))

    async def _run(self, name: str, pod: str) -> None:
        node = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": pod}, "target": {"name": "node"}}
        await self.ask("POST", f"{CORE}/pods/{pod}/binding", node)
        running = {"name": "driver", "image": "x", "imageID": "", "restartCount": 0, "ready": True}
        status = {
            "phase": "Running",
            "conditions": [{"type": "Ready", "status": "True"}],
            "containerStatuses": [running | {"state": {"running": {"startedAt": "2026-11-01T12:00:00Z"}}}],
        }
        merge = "application/merge-patch+json"
        await self.ask("PATCH", f"{CORE}/pods/{pod}/status", {"status": status}, merge)
        held = await self.ask("GET", f"{CORE}/configmaps/{name}-job-model")
        wanted = decode_wanted(held["data"][message_names.WANTED])
        model = wanted.model
        if model is None:
            raise RuntimeError(f"{name} has a driver and no job model")
        report = Report(
            DriverState.RUNNING,
            driver=pod,
            spec_hash=wanted.spec_hash,
            model_version=model.version,
            binding={one: ExecutorBinding(None, str(at + 1)) for at, one in enumerate(model.processors)},
            counts={"views": 8, "users": 8},
            layout=wanted.layout,
            run_id=model.run_id,
        )
        data = {"data": {message_names.REPORT: encode_report(report)}}
        await self.ask("PATCH", f"{CORE}/configmaps/{name}-report", data, merge)

    async def ready(self) -> int:
        """How many apps say that they are ready."""
        found = await self.ask("GET", APPS)
        return sum(
            condition["type"] == "Ready" and condition["status"] == "True"
            for app in found["items"]
            for condition in app.get("status", {}).get("conditions", ())
        )

    async def restarted(self) -> dict[str, Any]:
        """The apps whose drivers were made more than once, with what their status says of drivers."""
        found = await self.ask("GET", APPS)
        statuses = {app["metadata"]["name"]: app.get("status", {}) for app in found["items"]}
        return {name: status.get("driver") for name, status in statuses.items() if status.get("restarts")}


@asynccontextmanager
async def fleet(server: ApiServer) -> AsyncIterator[Fleet]:
    """No apps yet, and someone who watches for their drivers."""
    async with session_to(server, AT_ONCE + 4, Authorization="Bearer admin") as session:
        made = Fleet(server.url, session)
        seeing = asyncio.create_task(made.see())
        try:
            yield made
        finally:
            seeing.cancel()
            await asyncio.wait({seeing})
