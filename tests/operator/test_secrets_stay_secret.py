"""What stands in a Secret is used, and is nowhere to be read afterwards."""

import json
import os
import sys
from base64 import b64encode
from pathlib import Path
from typing import Any

from tests.harness.api_server.api_server import ApiServer
from tests.harness.machine.processes import Child, free_port, until
from tests.harness.operator.operator_processes import path_of, put
from tests.harness.operator.operator_start import OPERATOR_CODE
from tests.harness.operator.small_apps import join

MARK = "a-word-that-nobody-may-read"


def _app(namespace: str) -> dict[str, Any]:
    """One whose broker is not there, so that there is much to complain of."""
    app = join()
    app["metadata"]["namespace"] = namespace
    app["spec"]["systems"][0]["kafka"] = {
        "bootstrapServers": f"127.0.0.1:{free_port()}",
        "config": {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN"},
        "configSecret": {"name": "kafka"},
    }
    return app


def test_a_password_is_in_no_log_line_no_metric_no_status_and_no_object(
    api_server: ApiServer, namespace: str, tmp_path: Path
) -> None:
    written = {"sasl.username": "someone", "sasl.password": MARK}
    core = f"/api/v1/namespaces/{namespace}"
    api_server.ask("POST", f"{core}/secrets", {"metadata": {"name": "kafka"}, "stringData": written})
    app = _app(namespace)
    put(api_server, app)
    command = [sys.executable, "-c", OPERATOR_CODE, "--kubeconfig", str(api_server.kubeconfig("operator"))]
    options = ["-n", namespace, "--image", "runtime:test", "--port", "0", "--log-level", "debug"]
    with Child([*command, *options], tmp_path / "operator.log", os.environ) as child:
        until(lambda: _away(api_server.ask("GET", path_of(app))), 120, child)
        seen = child.said()
    for plural in ("configmaps", "pods", "events", "services"):
        seen += json.dumps(api_server.ask("GET", f"{core}/{plural}"))
    seen += json.dumps(api_server.ask("GET", path_of(app)))
    assert "127.0.0.1" in seen
    assert MARK not in seen
    assert b64encode(MARK.encode()).decode() not in seen


def _away(app: dict[str, Any]) -> bool:
    conditions = app.get("status", {}).get("conditions", ())
    return any(
        one["type"] == "Planned" and one["status"] == "Unknown" and one["reason"] == "SystemUnavailable"
        for one in conditions
    )
