"""Every line of a real driver process, of its JVM and its Python workers, is as `spec.logging` says."""

import json
import re
from pathlib import Path
from signal import SIGTERM
from typing import Any

import pytest

from streamapp.protocol.driver_report import DriverState
from streamapp_runtime.log_lines.line_format import ECS_VERSION
from tests.harness.operator.driver_process import PATIENCE_SECONDS, acting, copying
from tests.harness.operator.operator_sim import ON_REAL_SERVER, OperatorSim

CODE = "tests.harness.user_code.logging_code"
WORD = 'a-word-that-nobody-may-read, with "quotes"'
TEXT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z (INFO|WARN|ERROR) default\.app ")


def logging_app(**logging: Any) -> dict[str, Any]:
    app = copying()
    spec = app["spec"]
    mapped = {"from": "lines", "python": f"{CODE}:logged", "columns": "text STRING"}
    spec["operators"] = [
        {"name": "seen", "map": mapped},
        {"name": "out", "sendTo": {"from": "seen", "stream": "copied"}},
    ]
    spec["env"] = [{"name": "WORD", "valueFrom": {"secretKeyRef": {"name": "words", "key": "word"}}}]
    spec["logging"] = logging
    return app


def lines_of_a_life(sim: OperatorSim, folder: Path, app: dict[str, Any]) -> list[str]:
    """What a driver writes from its start to its end, with one record in between."""
    secrets = f"/api/v1/namespaces/{sim.namespace}/secrets"
    sim.server.ask("POST", secrets, {"metadata": {"name": "words"}, "stringData": {"word": WORD}})
    with acting(sim, folder, app) as acted:
        acted.comes_to(DriverState.RUNNING, 1)
        acted.copies("first")
        acted.child.signal(SIGTERM)
        assert acted.child.wait(PATIENCE_SECONDS) == 0
        return acted.child.said().splitlines()


@ON_REAL_SERVER
def test_every_line_is_one_json_object_with_the_fields_of_ecs(sim: OperatorSim, tmp_path: Path) -> None:
    app = logging_app(loggers=[{"name": CODE, "level": "debug"}], sparkLevel="info")
    lines = [json.loads(line) for line in lines_of_a_life(sim, tmp_path, app)]
    for line in lines:
        assert line["ecs.version"] == ECS_VERSION
        assert line["service.name"].endswith(".app")
        assert line["log.level"] in {"DEBUG", "INFO", "WARN", "ERROR"}
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", line["@timestamp"])
        assert WORD not in json.dumps(line)
        assert "nobody-may-read" not in json.dumps(line)
    roles = {line["log.logger"]: line["service.node.role"] for line in lines}
    assert roles["streamapp.driver"] == "driver"
    assert roles[CODE] == "executor"
    assert [name for name in roles if name.startswith("org.apache.spark")], "a line of Spark"
    actions = [line.get("event.action") for line in lines if line["log.logger"] == "streamapp.driver"]
    assert (actions[0], actions[-1]) == ("started", "outcome")

    own = [line for line in lines if line["log.logger"] == CODE]
    assert {line["labels"]["processor"] for line in own} == {"processor-0"}
    assert {line["labels"]["step"] for line in own} == {"seen"}
    assert [line["message"] for line in own] == ["debug: 1 rows", "the word is ***", "failed"]
    assert own[-1]["error.type"] == "ValueError"
    assert own[-1]["error.stack_trace"].startswith("Traceback (most recent call last):\n")
    printed = [line["message"] for line in lines if line["log.logger"] in {"stdout", "stderr"}]
    assert "printed ***" in printed
    (stack,) = [line for line in lines if line["log.logger"] == "stderr" and "error.type" in line]
    assert stack["error.message"] == "invalid literal for int() with base 10: 'no number'"


@pytest.mark.nightly
@ON_REAL_SERVER
def test_as_text_every_line_has_time_level_and_app_or_belongs_to_a_stack(
    sim: OperatorSim, tmp_path: Path
) -> None:
    lines = lines_of_a_life(sim, tmp_path, logging_app(format="text", level="warn"))
    pattern = re.compile(TEXT.pattern.replace("default", sim.namespace))
    begun = [line for line in lines if pattern.match(line)]
    belongs = re.compile(r"Traceback \(most recent|\s|[A-Za-z.]*(Error|Exception)\b")
    assert [line for line in lines if line not in begun and not belongs.match(line)] == []
    assert any(line.endswith(f"{CODE}: failed") for line in begun)
    assert not [line for line in begun if f"{CODE}: the word" in line], "the level is warn"
    assert not [line for line in begun if "streamapp.driver" in line and " INFO " in line]


@pytest.mark.usefixtures("process")
def test_both_templates_carry_what_is_logged(sim: OperatorSim) -> None:
    app = copying()
    app["spec"]["logging"] = {"sparkLevel": "info", "loggers": [{"name": "shop", "level": "debug"}]}
    sim.apply(app)
    sim.settle()
    files = sim.config_map("app-accepted-1")["data"]
    for template in (json.loads(files["driver.json"])["template"], json.loads(files["executor.json"])):
        (container,) = template["spec"]["containers"]
        variables = {one["name"]: one.get("value") for one in container["env"]}
        assert variables["STREAMAPP_SPARK_LOG_LEVEL"] == "info"
        assert variables["STREAMAPP_LOGGERS"] == "shop=debug"
        assert variables["STREAMAPP_APPLICATION_ID"] == f"{sim.namespace}.app"
