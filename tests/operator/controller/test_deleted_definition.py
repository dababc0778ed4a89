"""The CustomResourceDefinition is deleted and comes back: one sentence says so, and the operator goes on."""

from pathlib import Path

import pytest
import yaml

from tests.harness.api_server.api_server import CRD, assets, running
from tests.harness.api_server.api_server_fixtures import LEFT_OUT
from tests.harness.machine.processes import until
from tests.harness.operator.operator_processes import Operator, app, echoed, put

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
NAME = "streamapps.streamapp.dev"
QUICK = 0.05


@pytest.mark.usefixtures("process")
def test_an_operator_ends_when_its_definition_is_deleted_and_the_next_one_waits_for_it(
    tmp_path: Path,
) -> None:
    programs = assets()
    if programs is None:
        pytest.skip(LEFT_OUT)
    with running(programs, tmp_path) as server:
        server.new_namespace("shop")
        put(server, app("shop", processors=2))
        with Operator(server, "shop", tmp_path / "one.log", patience=QUICK) as first:
            until(lambda: echoed(server, "shop") == "2", 60, first)
            server.ask("DELETE", f"{DEFINITIONS}/{NAME}")
            assert first.wait(60) == 1
            (sentence,) = [line for line in first.lines() if NAME in line["message"]]
            assert "streamapp crd | kubectl apply" in sentence["message"]
        with Operator(server, "shop", tmp_path / "two.log", patience=QUICK) as second:
            until(lambda: any(NAME in line["message"] for line in second.lines()), 60, second)
            assert second.asked("/livez")[0] == 200
            assert second.asked("/readyz")[0] == 500
            until(lambda: server.call("GET", f"{DEFINITIONS}/{NAME}")[0] == 404, 60, second)
            server.ask("POST", DEFINITIONS, yaml.safe_load(CRD.read_text(encoding="utf-8")))
            until(lambda: server.answers("/apis/streamapp.dev/v1alpha1/streamapps"), 60, second)
            put(server, app("shop", "other", processors=3))
            until(lambda: echoed(server, "shop", "other") == "3", 60, second)
            put(server, app("shop", "other", processors=4))
            until(lambda: echoed(server, "shop", "other") == "4", 60, second)
