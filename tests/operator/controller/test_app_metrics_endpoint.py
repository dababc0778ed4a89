"""The metrics of apps as a Prometheus reads them from operators as processes, and lines of their logs."""

import gzip
from pathlib import Path
from urllib.request import Request, urlopen

from prometheus_client.parser import text_string_to_metric_families

from streamapp_operator.controller.telemetry.app_metrics import APP_METRICS
from tests.harness.api_server.api_server import ApiServer
from tests.harness.machine.processes import until
from tests.harness.operator.operator_processes import Operator
from tests.harness.operator.small_apps import join

WHOLE = "tests.harness.operator.whole_operator"


def phases(operator: Operator) -> dict[str, str]:
    """The phase of each app, by its name."""
    return {
        sample.labels["app"]: sample.labels["phase"]
        for family in text_string_to_metric_families(operator.asked("/metrics")[1])
        for sample in family.samples
        if sample.name == "streamapp_app_phase"
    }


def test_the_replica_that_leads_has_samples_of_the_apps_that_there_are(
    api_server: ApiServer, namespace: str, tmp_path: Path
) -> None:
    given = [join(name) for name in ("one", "two")]
    with Operator(api_server, namespace, tmp_path / "first.log", module=WHOLE) as first:
        until(first.leads, 30, first)
        with Operator(api_server, namespace, tmp_path / "second.log", module=WHOLE) as second:
            until(lambda: second.asked("/readyz")[0] == 200, 30, second)
            api_server.kubectl("create", "-n", namespace, "-f", "-", given=given)
            until(lambda: phases(first) == {"one": "Launching", "two": "Launching"}, 60, first)
            api_server.kubectl("delete", "-n", namespace, "sapp", "two")
            until(lambda: phases(first) == {"one": "Launching"}, 60, first)
            assert phases(second) == {}
        launched = [line for line in first.lines() if line.get("reason") == "Launched"]
        assert {line["app"] for line in launched} == {f"{namespace}/one", f"{namespace}/two"}
        for line in launched:
            assert f"{line['namespace']}/{line['name']}" == line["app"]
            assert (line["generation"], line["event"], line["level"]) == (1, "Normal", "info")


def test_the_text_has_every_metric_and_is_compressed_for_who_takes_that(
    api_server: ApiServer, namespace: str, tmp_path: Path
) -> None:
    with Operator(api_server, namespace, tmp_path / "one.log", module=WHOLE) as one:
        url = f"http://127.0.0.1:{one.port()}/metrics"
        with urlopen(Request(url, headers={"Accept-Encoding": "gzip"}), timeout=10) as answer:
            assert answer.headers["Content-Encoding"] == "gzip"
            assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
            text = gzip.decompress(answer.read()).decode()
    described = {line.split()[2] for line in text.splitlines() if line.startswith("# HELP")}
    assert {metric.name for metric in APP_METRICS} <= described
