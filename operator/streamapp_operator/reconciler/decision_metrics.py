"""What is counted of a verdict that was carried out."""

from collections.abc import Mapping
from typing import Any

from streamapp_operator.controller.client.resource_kinds import POD
from streamapp_operator.controller.telemetry.operator_metric_values import OperatorMetricValues
from streamapp_operator.controller.telemetry.operator_metrics import EVENTS, LAUNCHES, RESTARTS
from streamapp_operator.reconciler.writes.reconcile_decision import Create, ReconcileDecision


def count_decision(
    measured: OperatorMetricValues, before: Mapping[str, Any], verdict: ReconcileDecision
) -> None:
    """Count launches, restarts and what was told; `before` is the status that was."""
    made = [write.manifest["kind"] for write in verdict.after if isinstance(write, Create)]
    measured.add(LAUNCHES, by=made.count(POD.name))
    restarts = verdict.status.get("restarts", 0) - before.get("restarts", 0)
    measured.add(RESTARTS, by=max(restarts, 0))
    for event in verdict.events:
        measured.add(EVENTS, event.type, event.reason)
