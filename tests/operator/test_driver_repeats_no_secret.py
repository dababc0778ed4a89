"""What a driver says of a broker that it cannot log in to has none of the values of its Secret."""

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from streamapp.protocol.driver_report import CandidateVerdict, DriverState, Report, ReportedWarning
from streamapp.protocol.report_codec import encode_report
from streamapp.spec.redaction import without_values
from tests.harness.machine.processes import free_port
from tests.harness.operator.driver_kubelet import contained, mount_secrets
from tests.harness.operator.operator_sim import ON_REAL_SERVER, OperatorSim
from tests.harness.operator.small_apps import join

MARK = "a-word-that-nobody-may-read"


def _app() -> dict[str, Any]:
    app = join(
        processors=1, env=[{"name": "WORD", "valueFrom": {"secretKeyRef": {"name": "words", "key": "word"}}}]
    )
    app["spec"]["systems"][0]["kafka"] = {
        "bootstrapServers": f"127.0.0.1:{free_port()}",
        "configSecret": {"name": "kafka"},
    }
    return app


@ON_REAL_SERVER
def test_a_setting_that_does_not_fit_is_told_without_its_value(
    sim: OperatorSim, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """librdkafka repeats a value that it does not know, of a setting that nobody else looks at."""
    mounted = tmp_path / "secrets" / "main"
    mounted.mkdir(parents=True)
    (mounted / "client.dns.lookup").write_text(MARK, "utf-8")
    monkeypatch.setenv("STREAMAPP_SECRETS", str(mounted.parent))
    secrets = f"/api/v1/namespaces/{sim.namespace}/secrets"
    sim.server.ask("POST", secrets, {"metadata": {"name": "words"}, "stringData": {"word": "another-word"}})
    sim.apply(_app())
    sim.settle()
    pod = sim.begin()
    with contained(sim, pod, tmp_path / "pod", **{"spark.master": "local[1]"}) as driver:
        code = driver.wait(240)
        said = driver.said() + (tmp_path / "pod" / "termination").read_text("utf-8")
    assert code != 0
    assert "client.dns.lookup" in said
    assert "***" in said
    assert MARK not in said
    sim.end(code=code, message=(tmp_path / "pod" / "termination").read_text("utf-8"))
    sim.settle()
    for seen in (sim.app(), sim.objects("configmaps"), sim.events()):
        assert MARK not in str(seen)


@ON_REAL_SERVER
def test_no_line_that_a_driver_writes_repeats_what_only_its_pod_template_names(
    sim: OperatorSim, tmp_path: Path
) -> None:
    """One variable, a whole Secret, a mounted one; the app is called as their values."""
    words = {"word": f"{MARK}-a", "DB_HOST": f"{MARK}-b"}
    secrets = f"/api/v1/namespaces/{sim.namespace}/secrets"
    sim.server.ask("POST", secrets, {"metadata": {"name": "words"}, "stringData": words})
    sim.server.ask("POST", secrets, {"metadata": {"name": "files"}, "stringData": {"host": f"{MARK}-c"}})
    container = {
        "name": "driver",
        "env": [{"name": "WORD", "valueFrom": {"secretKeyRef": {"name": "words", "key": "word"}}}],
        "envFrom": [{"secretRef": {"name": "words"}}],
        "volumeMounts": [{"name": "files", "mountPath": str(tmp_path / "mounted")}],
    }
    volume = {"name": "files", "secret": {"secretName": "files"}}
    app = join(processors=1, driver={"template": {"spec": {"containers": [container], "volumes": [volume]}}})
    app["spec"]["applicationId"] = ".".join(f"{MARK}-{letter}" for letter in "abc")
    sim.apply(app)
    sim.settle()
    pod = sim.begin()
    manifest = sim.driver()
    mount_secrets(sim, manifest, tmp_path)
    with contained(sim, pod, tmp_path / "pod", **{"spark.master": "local[1]"}) as driver:
        code = driver.wait(240)
        said = driver.said() + (tmp_path / "pod" / "termination").read_text("utf-8")
    assert code != 0
    assert "***.***.***.checkpoint" in said
    assert MARK not in said


def test_lines_of_a_value_are_taken_out_and_short_values_are_left() -> None:
    key = "-----BEGIN-----\nabcdef\n-----END-----"
    assert without_values("at line abcdef of 3", [key, "3"]) == "at line *** of 3"


def test_nothing_that_a_report_refuses_repeats_a_value() -> None:
    refusal = ReportedWarning("InvalidSpec", f"spec.{MARK}", f"found {MARK}")
    report = Report(DriverState.RUNNING, warnings=(refusal,), verdict=CandidateVerdict(2, (refusal,)))
    assert MARK in encode_report(report)
    written = encode_report(report.redacted(partial(without_values, values=[MARK])))
    assert MARK not in written
    assert written.count("found ***") == 2
