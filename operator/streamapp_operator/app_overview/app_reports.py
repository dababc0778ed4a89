"""The last reports of drivers, as their ConfigMaps hold them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from streamapp.jobmodel.unreadable_data import UnreadableError
from streamapp.protocol import message_names
from streamapp.protocol.driver_report import Report
from streamapp.protocol.report_codec import decode_report
from streamapp_operator.controller.client.labels import APP_LABEL
from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.controller.watch.cached_fields import foreign_write_time
from streamapp_operator.reconciler.facts.timestamps import parse_timestamp
from streamapp_operator.reconciler.objects.object_metadata import is_owned


@dataclass(frozen=True, slots=True)
class DatedReport:
    """The last report of an app's driver, and its time."""

    report: Report
    version: str  # of the ConfigMap
    written_at: float | None  # seconds since 1970


@dataclass(slots=True)
class AppReports:
    """The reports of apps. One whose ConfigMap has not changed is not decoded again."""

    _decoded: dict[str, DatedReport] = field(default_factory=dict)  # by the ConfigMap's uid

    def of(self, apps: Sequence[Manifest], config_maps: Iterable[Manifest]) -> dict[str, DatedReport]:
        """The readable reports among these ConfigMaps, by the uid of their app."""
        owners = {(app["metadata"]["namespace"], app["metadata"]["name"]): app for app in apps}
        decoded, reports = {}, {}
        for config_map in config_maps:
            metadata = config_map["metadata"]
            app = owners.get((metadata["namespace"], (metadata.get("labels") or {}).get(APP_LABEL)))
            if app is None or not is_owned(config_map, app):
                continue
            dated = self._decoded.get(metadata["uid"])
            if dated is None or dated.version != metadata["resourceVersion"]:
                dated = _dated_report(config_map)
            if dated is not None:
                decoded[metadata["uid"]] = reports[app["metadata"]["uid"]] = dated
        self._decoded = decoded
        return reports


def report_in(config_map: Manifest | None) -> Report | None:
    """The report that a ConfigMap holds; None where there is none that this version can read."""
    text = ((config_map or {}).get("data") or {}).get(message_names.REPORT)
    try:
        return decode_report(text) if text else None
    except UnreadableError:
        return None


def _dated_report(config_map: Manifest) -> DatedReport | None:
    report = report_in(config_map)
    if report is None:
        return None
    written_at = parse_timestamp(foreign_write_time(config_map))
    return DatedReport(report, config_map["metadata"]["resourceVersion"], written_at)


def has_page(app: Manifest) -> bool:
    """True if the app's driver serves a page."""
    return bool((app["spec"].get("page") or {}).get("enabled"))


def current_driver(app: Manifest) -> Mapping[str, Any]:
    """The driver's part of the status; empty where there is no driver, or where it has ended."""
    driver: dict[str, Any] = (app.get("status") or {}).get("driver") or {}
    last_ending = driver.get("lastEnding") or {}
    has_ended = "incarnation" in last_ending and last_ending["incarnation"] == driver.get("incarnation")
    return {} if has_ended else driver


def report_of_driver(app: Manifest, dated: DatedReport | None) -> DatedReport | None:
    """The report, unless it is of an earlier driver: such a report says nothing of this one."""
    return dated if dated and dated.report.driver == current_driver(app).get("pod") else None
