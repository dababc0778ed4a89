"""The chart's alerts, judged by Prometheus' own tool: they fire when they should, and lead to a runbook."""

import re
from pathlib import Path
from typing import Any

import pytest

from tests.harness.api_server.asset_programs import asset_program
from tests.harness.machine.helm import Helm
from tests.harness.machine.left_out import leave_out
from tests.harness.machine.promtool import check_rules, run_rules
from tests.harness.repository.prometheus_queries import LABELS, metric_names

PAGE = Path(__file__).parents[2] / "docs" / "guide" / "alerts.md"
ENABLED = "--set=alerts.enabled=true"
LEFT_OUT = "tests of alerts by promtool were left out; `make kube-assets` builds it"
METRICS = LABELS["operator"] | LABELS["apps"]
SCRAPED = {"job", "pod", "namespace"}
"""Labels that a scrape gives."""
JOB = 'job="streamapp-operator", pod="a"'
APP = f'{JOB}, namespace="shop", app="views"'
OPERATOR = f'{JOB}, namespace="streamapp-system"'
DRIVER = 'namespace="shop", app="views"'


@pytest.fixture(scope="module")
def program() -> Path:
    promtool = asset_program("promtool")
    if promtool is None:
        leave_out(LEFT_OUT)
    return promtool


def groups(helm: Helm, *options: str) -> list[dict[str, Any]]:
    """The groups of the PrometheusRule."""
    (rule,) = [one for one in helm.objects(ENABLED, *options) if one["kind"] == "PrometheusRule"]
    rule_groups: list[dict[str, Any]] = rule["spec"]["groups"]
    return rule_groups


def rules(helm: Helm, *options: str) -> dict[str, dict[str, Any]]:
    """All rules by their alerts' names."""
    return {rule["alert"]: rule for group in groups(helm, *options) for rule in group["rules"]}


def test_there_is_no_rule_where_none_is_asked_for(helm: Helm) -> None:
    assert [one for one in helm.objects() if one["kind"] == "PrometheusRule"] == []


def test_promtool_finds_nothing_wrong(helm: Helm, program: Path, tmp_path: Path) -> None:
    assert check_rules(program, groups(helm), tmp_path) == ""
    broken = [{"name": "broken", "rules": [{"alert": "Broken", "expr": "max by ("}]}]
    assert "parse error" in check_rules(program, broken, tmp_path)


def test_every_alert_asks_for_metrics_that_there_are_by_labels_that_they_have(helm: Helm) -> None:
    for alert, rule in rules(helm).items():
        names = metric_names(rule["expr"])
        assert names, alert
        assert names <= METRICS.keys(), alert
        for metric, within in re.findall(r"\b(streamapp_\w+)\{([^}]*)\}", rule["expr"]):
            labels = set(re.findall(r"(\w+)=?[!~]?=?\"", re.sub(r"\"[^\"]*\"", '"', within)))
            assert labels <= METRICS[metric] | SCRAPED, alert


def test_every_alert_has_a_severity_and_leads_to_its_section_of_the_runbooks(helm: Helm) -> None:
    headings = re.findall(r"^### (\w+)$", PAGE.read_text("utf-8"), re.M)
    assert headings == list(rules(helm))
    for alert, rule in rules(helm, "--set=alerts.runbookUrl=https://docs.example/alerts.html").items():
        assert rule["labels"]["severity"] in ("critical", "warning")
        assert rule["annotations"]["runbook"] == f"docs/guide/alerts.md#{alert.lower()}"
        assert rule["annotations"]["runbook_url"] == f"https://docs.example/alerts.html#{alert.lower()}"
        assert rule["annotations"]["summary"]
    assert "runbook_url" not in rules(helm)["StreamAppNotReady"]["annotations"]


def test_each_runbook_says_what_it_means_what_to_look_at_and_what_to_do() -> None:
    sections = re.split(r"^### \w+$", PAGE.read_text("utf-8"), flags=re.M)[1:]
    for section in sections:
        text = section.partition("\n## ")[0]
        assert re.search(r"^```sh$", text, re.M), text
        assert "**What to do**" in text


def test_each_alert_can_be_left_out(helm: Helm) -> None:
    """In two halves: one that is left out does not take another one with it."""
    alerts = list(rules(helm))
    for half in (alerts[::2], alerts[1::2]):
        assert rules(helm, f"--set=alerts.disabled={{{','.join(half)}}}").keys() == set(alerts) - set(half)


def test_thresholds_are_those_of_the_values(helm: Helm) -> None:
    limits = {
        "notReadyFor": "StreamAppNotReady", "stalledFor": "StreamAppStalled",
        "degradedFor": "StreamAppDegraded", "lagFor": "StreamAppLags",
        "deliveryStallsFor": "StreamAppDeliveryStalls",
        "operatorDownFor": "StreamAppOperatorDown",
    }  # fmt: skip
    changed = rules(helm, *(f"--set=alerts.thresholds.{value}={70 + n}s" for n, value in enumerate(limits)))
    for number, alert in enumerate(limits.values(), 70):
        assert changed[alert]["for"] == f"{number}s"
    numbers = {
        "restartsInAnHour": "StreamAppRestartsOften", "lagRows": "StreamAppLags",
        "failedBatches": "StreamAppBatchesFail", "badRecords": "StreamAppBadRecords",
        "queueAgeSeconds": "StreamAppOperatorLate", "failedReconciles": "StreamAppOperatorFails",
        "missedChanges": "StreamAppOperatorMissesChanges", "usedVolumePercent": "StreamAppVolumeFills",
    }  # fmt: skip
    changed = rules(
        helm, *(f"--set=alerts.thresholds.{value}={7_000 + n}" for n, value in enumerate(numbers))
    )
    for number, alert in enumerate(numbers.values(), 7_000):
        assert changed[alert]["expr"].endswith(f"> {number}"), changed[alert]


def series(name: str, labels: str, values: str) -> dict[str, str]:
    return {"series": f"{name}{{{labels}}}", "values": values}


def condition(type_: str, status: str, values: str = "1x60") -> dict[str, str]:
    return series("streamapp_app_condition", f'{APP}, type="{type_}", status="{status}"', values)


def phase(name: str) -> dict[str, str]:
    return series("streamapp_app_phase", f'{APP}, phase="{name}"', "1x60")


def leading(values: str) -> dict[str, str]:
    return series("streamapp_operator_leading", OPERATOR, values)


Firing = list[tuple[int, str]]
"""By minute: the alert that fires then, or one that does not with a `-` before its name."""
CASES: dict[str, tuple[list[dict[str, str]], Firing]] = {
    "an app that is not ready": (
        [condition("Ready", "False"), phase("BackingOff")],
        [(9, "-StreamAppNotReady"), (11, "StreamAppNotReady")],
    ),
    "one whose readiness is not known counts on": (
        [
            condition("Ready", "False", "1x4 _x56"), condition("Ready", "Unknown", "_x5 1x55"),
            phase("Running"),
        ],
        [(11, "StreamAppNotReady")],
    ),
    "an app at rest": (
        [condition("Ready", "False"), phase("Suspended")],
        [(30, "-StreamAppNotReady")],
    ),
    "an app that is ready": ([condition("Ready", "True"), phase("Running")], [(30, "-StreamAppNotReady")]),
    "an app that is stalled": (
        [condition("Stalled", "True")], [(4, "-StreamAppStalled"), (6, "StreamAppStalled")],
    ),
    "an app that is not": ([condition("Stalled", "False")], [(30, "-StreamAppStalled")]),
    "a degraded app": (
        [condition("Degraded", "True")], [(14, "-StreamAppDegraded"), (16, "StreamAppDegraded")],
    ),
    "four restarts, counted on by another operator": (
        [
            series("streamapp_app_restarts_total", APP, "0 1 2 _x60"),
            series("streamapp_app_restarts_total", APP.replace('"a"', '"b"'), "_ _ _ 3 4 4x80"),
        ],
        [(3, "-StreamAppRestartsOften"), (5, "StreamAppRestartsOften"), (75, "-StreamAppRestartsOften")],
    ),
    "an app that restarted often long ago": (
        [series("streamapp_app_restarts_total", APP, "40x60")], [(30, "-StreamAppRestartsOften")],
    ),
    "lag in two streams": (
        [
            series("streamapp_lag_rows", f'{DRIVER}, stream="views"', "600000x60"),
            series("streamapp_lag_rows", f'{DRIVER}, stream="users"', "600000x60"),
        ],
        [(14, "-StreamAppLags"), (16, "StreamAppLags")],
    ),
    "a table that takes nothing": (
        [
            series("streamapp_outbox_records", f'{DRIVER}, system="shop"', "0x5 50x60"),
            series("streamapp_deliveries_total", f'{DRIVER}, system="shop"', "7x60"),
        ],
        [(14, "-StreamAppDeliveryStalls"), (17, "StreamAppDeliveryStalls")],
    ),
    "a table that is slow, beside one that has everything": (
        [
            series("streamapp_outbox_records", f'{DRIVER}, system="shop"', "50x60"),
            series("streamapp_deliveries_total", f'{DRIVER}, system="shop"', "0+1x60"),
            series("streamapp_outbox_records", f'{DRIVER}, system="lake"', "0x60"),
            series("streamapp_deliveries_total", f'{DRIVER}, system="lake"', "9x60"),
        ],
        [(40, "-StreamAppDeliveryStalls")],
    ),
    "failed batches": (
        [series("streamapp_batches_failed_total", DRIVER, "0+1x20 20x60")],
        [(3, "-StreamAppBatchesFail"), (12, "StreamAppBatchesFail"), (60, "-StreamAppBatchesFail")],
    ),
    "a bad record": (
        [series("streamapp_bad_records_total", DRIVER, "0x5 1x60")],
        [(4, "-StreamAppBadRecords"), (8, "StreamAppBadRecords"), (30, "-StreamAppBadRecords")],
    ),
    "a volume that fills": (
        [
            series("streamapp_state_free_bytes", f'{DRIVER}, processor="1"', "40-1x60"),
            series("streamapp_state_volume_bytes", f'{DRIVER}, processor="1"', "100x60"),
        ],
        [(20, "-StreamAppVolumeFills"), (29, "-StreamAppVolumeFills"), (32, "StreamAppVolumeFills")],
    ),
    "a volume beside one that is full": (
        [
            series("streamapp_state_free_bytes", f'{DRIVER}, processor="1"', "90x60"),
            series("streamapp_state_volume_bytes", f'{DRIVER}, processor="1"', "100x60"),
            series("streamapp_state_free_bytes", f'{DRIVER}, processor="2"', "0x60"),
            series("streamapp_state_volume_bytes", f'{DRIVER}, processor="2"', "100x60"),
        ],
        [(6, "StreamAppVolumeFills")],
    ),
    "no operator": ([], [(4, "-StreamAppOperatorDown"), (6, "StreamAppOperatorDown")]),
    "an operator that waits for the lease": ([leading("0x60")], [(6, "StreamAppOperatorDown")]),
    "an operator that leads": ([leading("1x60")], [(30, "-StreamAppOperatorDown")]),
    "an app that waits": (
        [series("streamapp_operator_queue_age_seconds", OPERATOR, "130x60")],
        [(4, "-StreamAppOperatorLate"), (6, "StreamAppOperatorLate")],
    ),
    "reconciles that fail": (
        [series("streamapp_operator_reconciles_total", f'{OPERATOR}, outcome="cut off"', "0+1x60")],
        [(12, "StreamAppOperatorFails")],
    ),
    "reconciles that do not": (
        [series("streamapp_operator_reconciles_total", f'{OPERATOR}, outcome="done"', "0+10x60")],
        [(12, "-StreamAppOperatorFails")],
    ),
    "watches that lose changes": (
        [series("streamapp_operator_watch_missed_total", f'{OPERATOR}, kind="Pod"', "0+1x60")],
        [(20, "StreamAppOperatorMissesChanges")],
    ),
}  # fmt: skip


def test_alerts_fire_when_they_should_and_not_before(helm: Helm, program: Path, tmp_path: Path) -> None:
    tests = [
        {
            "name": case,
            "interval": "1m",
            "input_series": given,
            "promql_expr_test": [_expected(minute, alert) for minute, alert in firing],
        }
        for case, (given, firing) in CASES.items()
    ]
    assert run_rules(program, groups(helm), tests, tmp_path) == ""
    wrong = tests[0] | {"promql_expr_test": [_expected(11, "-StreamAppNotReady")]}
    assert "StreamAppNotReady" in run_rules(program, groups(helm), [wrong], tmp_path)


def _expected(minute: int, alert: str) -> dict[str, Any]:
    firing_alert = f'ALERTS{{alertname="{alert.strip("-")}", alertstate="firing"}}'
    return {
        "expr": f"count({firing_alert}) or vector(0)",
        "eval_time": f"{minute}m",
        "exp_samples": [{"labels": "{}", "value": 0 if alert.startswith("-") else 1}],
    }


def test_every_alert_has_a_case_in_which_it_fires(helm: Helm) -> None:
    fired = {alert for _, firing in CASES.values() for _, alert in firing if not alert.startswith("-")}
    assert fired == rules(helm).keys()
