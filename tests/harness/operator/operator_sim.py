"""The life of apps, simulated: a real API server, the real reconcile, and a hand that plays the kubelet."""

import asyncio
import subprocess
from collections.abc import Coroutine, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar, cast

import pytest
from prometheus_client import CollectorRegistry

from streamapp.jobmodel.job_model import JobModel
from streamapp.protocol import message_names
from streamapp.protocol.wanted_state import WantedState, decode_wanted
from streamapp.spec.resource.app import StreamApp
from streamapp_operator.controller.client.api_cluster_client import ApiClusterClient
from streamapp_operator.controller.client.api_requests import ApiTransport
from streamapp_operator.controller.client.client_configuration import load_configuration
from streamapp_operator.controller.client.manifest import AppKey
from streamapp_operator.controller.telemetry.app_metrics import AppCollector
from streamapp_operator.controller.watch.cached_fields import cached_fields
from streamapp_operator.controller.watch.object_cache import WATCHED_KINDS, ObjectCache
from streamapp_operator.controller.workqueue.reconcile_outcome import ReconcileOutcome, RequeueAfter
from streamapp_operator.reconciler.facts.reconcile_context import ReconcileContext
from streamapp_operator.reconciler.facts.validation_pool import ValidationPool
from streamapp_operator.reconciler.installation import Installation
from streamapp_operator.reconciler.partition_counts.lookup_results import KnownCounts, PartitionCounts
from streamapp_operator.reconciler.pods.driver_pod import is_standby
from streamapp_operator.reconciler.reconcile import reconcile
from tests.harness.api_server.api_server import ApiServer
from tests.harness.api_server.memory_api import MemoryApi, MemoryCalls
from tests.harness.api_server.mortal_cluster import Mortal
from tests.harness.api_server.served_memory_api import ServedMemoryApi, served_memory_api
from tests.harness.operator.simulated_cluster import Hands, incarnation_in

T = TypeVar("T")
INSTALLATION = Installation(image="streamapp-runtime:test", storage_class="standard")
START = datetime(2026, 11, 1, 12, tzinfo=UTC).timestamp()
FEW = 25
_REAL = pytest.param("api_server", marks=pytest.mark.api_server)
ON_REAL_SERVER = pytest.mark.parametrize("sim", [_REAL], indirect=True)
"""The mark of what only a real API server answers: admission, columns, scales, watches, who wrote a field."""
ON_BOTH_SERVERS = pytest.mark.parametrize("sim", ["memory", _REAL], indirect=True)
"""The mark of scenes that hold the API server in memory against the real one."""
ON_SERVED_MEMORY = pytest.mark.parametrize(
    "sim", [pytest.param("served memory", marks=pytest.mark.loopback)], indirect=True
)
"""The mark of commands that ask for no more than the API server in memory answers."""


@dataclass(slots=True)
class Table:
    """Partition counts as a test says them: the system at the edge."""

    answer: PartitionCounts = field(default_factory=lambda: KnownCounts({}))
    asked: int = 0

    async def counts(self, app: StreamApp) -> PartitionCounts:
        self.asked += 1
        return self.answer


class OperatorSim(Hands):
    """Everything that happens, happens here and in its own time."""

    def __init__(self, server: ApiServer | MemoryApi, namespace: str) -> None:
        self.server, self.namespace = server, namespace
        self.now = START
        self.table = Table(KnownCounts({"views": 8, "users": 8, "enriched": None}))
        self.installation = INSTALLATION
        self.validation_pool = ValidationPool()
        self.app_metrics = AppCollector()
        self.calls: list[tuple[str, str]] = []
        self.closing = ExitStack()  # what a test opened that is to last as long
        self._loop = asyncio.new_event_loop()
        self._calls = self.run(self._connected())
        self.cluster = ApiClusterClient(
            self._calls, (namespace,), lambda: 60.0, lambda: datetime.fromtimestamp(self.now, UTC)
        )
        self._context: ReconcileContext | None = None
        self.mortal: Mortal | None = None

    @classmethod
    def in_memory(cls) -> "OperatorSim":
        """A simulation before an API server in memory that has its clock."""
        sim = cls(MemoryApi(lambda: sim.now), "shop")
        return sim

    @classmethod
    @contextmanager
    def in_served_memory(cls, folder: Path) -> Iterator["OperatorSim"]:
        """The same, with a server that commands can ask, too."""
        with served_memory_api(lambda: sim.now, folder) as api:
            sim = cls(api, "shop")
            yield sim

    async def _connected(self) -> ApiTransport:
        if isinstance(self.server, MemoryApi):
            return cast("ApiTransport", MemoryCalls(self.server))
        kubeconfig = self.server.kubeconfig("operator")
        return ApiTransport(
            await load_configuration(kubeconfig), lambda verb, code: self.calls.append((verb, code))
        )

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self._loop.run_until_complete(work)

    def close(self) -> None:
        self.closing.close()
        self.run(self.validation_pool.close())
        self.run(self._calls.close())
        self._loop.close()

    # What the operator does.

    def reconcile(self, name: str = "app") -> ReconcileOutcome:
        """One reconcile, by an operator whose watches have seen all there is."""
        return self.run(self._reconcile(AppKey(self.namespace, name)))

    async def _reconcile(self, key: AppKey) -> ReconcileOutcome:
        cache = ObjectCache(cached_fields)
        for kind in WATCHED_KINDS:
            async for found in self.cluster.list_objects(
                kind, self.namespace, "" if kind is WATCHED_KINDS[0] else "streamapp.dev/app"
            ):
                cache.put(kind, found)
        before = self._context
        cluster = self.mortal or self.cluster
        context = ReconcileContext(
            cluster,
            cache,
            lambda: self.now,
            self.table,
            self.installation,
            app_metrics=self.app_metrics,
            validation_pool=self.validation_pool,
        )
        if before is not None:
            context = replace(
                context, decoded=before.decoded, sightings=before.sightings, memoized=before.memoized
            )
        self._context = context
        return await reconcile(key, context)

    def settle(self, name: str = "app", *, warms_up: bool = True) -> ReconcileOutcome:
        """Reconcile until nothing more is written, as events would; successors get ready meanwhile."""
        for _ in range(FEW):
            before = self.versions()
            outcome = self.reconcile(name)
            if warms_up:
                self.warm_up()
            soon = isinstance(outcome, RequeueAfter) and outcome.seconds < 1
            if self.versions() == before and not soon:
                return outcome
        raise AssertionError(f"not settled after {FEW} reconciles: {self.status(name)}")

    def pass_time(self, seconds: float) -> None:
        self.now += seconds

    def warm_up(self) -> None:
        """Have the standby drivers that were created get ready to take over."""
        for pod in self.successors():
            if pod["status"].get("phase") == "Pending" and not pod["metadata"].get("deletionTimestamp"):
                self.begin(pod["metadata"]["name"])

    def fail_driver(self, seconds: float) -> None:
        """The driver fails, and so many seconds pass before the operator looks again."""
        self.end(code=3)
        self.settle()
        self.pass_time(seconds)
        self.settle()

    def restart(self) -> None:
        """Another operator takes over, which remembers nothing."""
        self.run(self.validation_pool.close())
        self.validation_pool = ValidationPool()
        self.app_metrics = AppCollector()
        self._context, self.mortal = None, None

    # What people do.

    def apply(self, app: Mapping[str, Any]) -> None:
        path = self._path("streamapps", app["metadata"]["name"], "apis/streamapp.dev/v1alpha1")
        self.server.ask(
            "PATCH", f"{path}?fieldManager=test&force=true", dict(app), "application/apply-patch+yaml"
        )

    def edit(self, name: str = "app", **spec: Any) -> None:
        path = self._path("streamapps", name, "apis/streamapp.dev/v1alpha1")
        self.server.ask("PATCH", path, {"spec": spec}, "application/merge-patch+json")

    def kubeconfig(self, user: str = "admin") -> str:
        """The file by which commands of a user get to the API server."""
        assert isinstance(self.server, ApiServer | ServedMemoryApi)
        return str(self.server.kubeconfig(user))

    def cluster_options(self, user: str = "admin") -> list[str]:
        """The options by which a command of a user gets to the apps of the simulation."""
        return ["--namespace", self.namespace, "--kubeconfig", self.kubeconfig(user)]

    def kubectl(self, *words: str) -> subprocess.CompletedProcess[str]:
        assert isinstance(self.server, ApiServer)
        return self.server.kubectl(*words)

    # What there is.

    def app(self, name: str = "app") -> dict[str, Any]:
        found: dict[str, Any] = self.server.ask(
            "GET", self._path("streamapps", name, "apis/streamapp.dev/v1alpha1")
        )
        return found

    def status(self, name: str = "app") -> dict[str, Any]:
        found: dict[str, Any] = self.app(name).get("status", {})
        return found

    def condition(self, aspect: str, name: str = "app") -> dict[str, Any]:
        return next(one for one in self.status(name)["conditions"] if one["type"] == aspect)

    def says(self, aspect: str, name: str = "app") -> tuple[str, str]:
        found = self.condition(aspect, name)
        return found["status"], found["reason"]

    def objects(self, plural: str, group: str = "api/v1") -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.server.ask("GET", self._path(plural, "", group))["items"]
        return found

    def samples(self, metric: str) -> dict[tuple[str, ...], float]:
        """The samples of a metric of apps, by their labels after the namespace."""
        collected = CollectorRegistry()
        collected.register(self.app_metrics)
        return {
            tuple(sample.labels.values())[1:]: sample.value
            for family in collected.collect()
            for sample in family.samples
            if sample.name == metric and sample.labels["namespace"] == self.namespace
        }

    def names(self, plural: str, group: str = "api/v1") -> list[str]:
        return sorted(one["metadata"]["name"] for one in self.objects(plural, group))

    def drivers(self) -> list[dict[str, Any]]:
        """Driver pods that have not ended, without those that have yet to take over."""
        return [pod for pod in self._driver_pods() if not self._stands_by(pod)]

    def successors(self) -> list[dict[str, Any]]:
        """Standby drivers that have not ended, and have yet to take over."""
        return [pod for pod in self._driver_pods() if self._stands_by(pod)]

    def _driver_pods(self) -> list[dict[str, Any]]:
        return [
            pod
            for pod in self.objects("pods")
            if pod["metadata"]["labels"].get("streamapp.dev/role") == "driver"
            and pod["status"].get("phase") not in {"Succeeded", "Failed"}
        ]

    def _stands_by(self, pod: dict[str, Any]) -> bool:
        if not is_standby(pod):
            return False
        status = self.status(pod["metadata"]["labels"]["streamapp.dev/app"])
        return incarnation_in(pod) > int(status.get("driver", {}).get("incarnation", 0))

    def wanted(self, name: str = "app") -> WantedState:
        return decode_wanted(self.config_map(f"{name}-job-model")["data"][message_names.WANTED])

    def model(self, name: str = "app") -> JobModel:
        found = self.wanted(name).model
        assert found is not None
        return found

    def events(self) -> list[tuple[str, str, str]]:
        return sorted((one["type"], one["reason"], one["message"]) for one in self.objects("events"))

    def versions(self) -> dict[str, str]:
        """What would differ if anything had been written."""
        found = {}
        for plural, group in (
            ("streamapps", "apis/streamapp.dev/v1alpha1"),
            ("pods", "api/v1"),
            ("configmaps", "api/v1"),
            ("controllerrevisions", "apis/apps/v1"),
        ):
            for one in self.objects(plural, group):
                found[f"{plural}/{one['metadata']['name']}"] = one["metadata"]["resourceVersion"]
        return found

    def bring_up(self, app: Mapping[str, Any]) -> None:
        """An app that runs."""
        self.apply(app)
        self.settle()
        self.begin()
        self.report()
        self.settle()
