"""Lineage events that nobody takes: told once, and no run waits for them."""

from streamapp_runtime.driver.telemetry.export_outage import ExportOutage
from streamapp_runtime.driver.telemetry.run_lineage import LineageDelivery


def nobody(event: str) -> None:
    raise ConnectionRefusedError(event)


def test_events_that_nobody_takes_are_one_warning_and_end_with_the_run() -> None:
    warnings: list[str] = []
    delivery = LineageDelivery(
        nobody, ExportOutage("lineage events", "http://me:secret@here:1", warnings.append)
    )
    for event in ("START", "COMPLETE"):
        delivery.offer(event)
    delivery.close(60.0)
    assert warnings == [
        "lineage events do not reach http://here:1: ConnectionRefusedError; the app continues without"
    ]
