"""Publishes the events of an app: as objects of the cluster, as lines of the log, and in the metrics."""

import logging
from collections.abc import Iterable

from streamapp.exposition.metric_collector import MetricCollector
from streamapp_operator.controller.client.cluster_client import ClusterClient
from streamapp_operator.controller.client.concurrent_calls import side_by_side
from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.controller.telemetry.operator_metrics import EVENTS
from streamapp_operator.reconciler.writes.reconcile_decision import EventType, StatusEvent

_log = logging.getLogger(__name__)
_LEVELS: dict[EventType, int] = {"Normal": logging.INFO, "Warning": logging.WARNING}


async def publish_events(
    cluster: ClusterClient, app: Manifest, events: Iterable[StatusEvent], metrics: MetricCollector
) -> None:
    """Publish each event once. The log has it even where the API server does not take it."""
    published = tuple(events)
    for event in published:
        _log.log(_LEVELS[event.type], event.message, extra={"event": event.type, "reason": event.reason})
        metrics.increment(EVENTS, event.type, event.reason)
    await side_by_side([cluster.event(app, event.type, event.reason, event.message) for event in published])
