"""An app that runs on the cluster, with what it reads: where its processors are, what its driver counts."""

import re
from dataclasses import dataclass
from typing import Any

from streamapp.placement.locations.pod_facts import EXECUTOR_ID
from streamapp.protocol.driver_report import Report
from streamapp.protocol.message_names import REPORT
from streamapp.protocol.report_codec import decode_report
from tests.harness.cluster.app_namespace import LIMIT, Space
from tests.harness.cluster.app_traffic import Traffic
from tests.harness.cluster.waiting import until


@dataclass(frozen=True, slots=True)
class RunningApp:
    """One app and its namespace, which has the same name."""

    space: Space
    traffic: Traffic

    @property
    def name(self) -> str:
        return self.space.name

    def goes_on(self, limit: float = LIMIT) -> None:
        """More views come, and what has come out in the end is exact."""
        self.traffic.view()
        until(self.traffic.wrong, limit)

    def report(self) -> Report:
        """What its driver said last."""
        return decode_report(self.space.data(f"{self.name}-report")[REPORT])

    def nodes(self) -> dict[str, str]:
        """The node of each processor, by the pods that its driver says they work in."""
        on = {
            pod["metadata"]["labels"].get(EXECUTOR_ID): str(pod["spec"].get("nodeName"))
            for pod in self.executors()
        }
        return {name: on.get(seat.executor, "") for name, seat in sorted(self.report().binding.items())}

    def pods(self) -> set[str]:
        """Its pods as such: one that was made anew is another."""
        found = (pod for role in ("driver", "executor") for pod in self.space.pods(self.name, role))
        return {pod["metadata"]["uid"] for pod in found}

    def executors(self) -> list[dict[str, Any]]:
        """The pods of its executors."""
        return self.space.pods(self.name, "executor")

    def executor_on(self, node: str) -> str:
        """The executor pod of a node."""
        return next(
            str(pod["metadata"]["name"]) for pod in self.executors() if pod["spec"].get("nodeName") == node
        )

    def counted(self, metric: str) -> float:
        """One of the driver's metrics, over all its labels; 0 where nothing was counted yet."""
        text = self.space.page(f"{self.name}-driver", "metrics", "metrics")
        values = re.findall(rf"^{metric}(?:{{.*}})? (\S+)$", text, re.MULTILINE)
        return sum(map(float, values))

    def settled(self, limit: float = LIMIT) -> None:
        """Wait until stores have what was committed: the next batch writes it to them, an empty one too."""
        seen = self.counted("streamapp_batches_total")
        until(
            lambda: [] if self.counted("streamapp_batches_total") > seen else ["there was no further batch"],
            limit,
        )
