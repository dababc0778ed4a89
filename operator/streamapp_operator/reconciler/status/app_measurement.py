"""The measurements of an app, from its resource, its status and its driver's report."""

from dataclasses import replace
from typing import Any

from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.controller.telemetry.app_metrics import AppMeasurement
from streamapp_operator.controller.watch.object_cache import application_id_of
from streamapp_operator.reconciler.facts.facts import Facts
from streamapp_operator.reconciler.installation import Installation
from streamapp_operator.reconciler.pods.driver_pod import driver_container


def app_measurement(app: Manifest, status: Manifest, installation: Installation) -> AppMeasurement:
    """The measurement of an app whose driver has not been looked at."""
    plan: dict[str, Any] = status.get("plan") or {}
    return AppMeasurement(
        application_id=application_id_of(app),
        image=str(app["spec"].get("image") or installation.image),
        plan=str(plan.get("outcome") or ""),
        phase=str(status.get("phase") or ""),
        conditions=tuple((each["type"], each["status"]) for each in status.get("conditions") or ()),
        restarts=int(status.get("restarts") or 0),
    )


def with_driver(measurement: AppMeasurement, facts: Facts) -> AppMeasurement:
    """The same with the image of the newest driver and with what it last reported."""
    container = driver_container(facts.pods.drivers[-1].manifest["spec"]) if facts.pods.drivers else {}
    return replace(
        measurement,
        image=container.get("image", measurement.image),
        reported_at=facts.run.reported_at,
        lag=facts.run.report.progress.lag if facts.run.report else None,
    )
