"""`streamapp operator`: what it takes, what it refuses, and that it works."""

import json
import os
import sys
from pathlib import Path
from typing import cast

import pytest
from click.testing import CliRunner, Result

from streamapp.spec.problem import Problem
from streamapp_operator.cli.operator import operator
from streamapp_operator.reconciler.installation import Allowance, Installation
from streamapp_operator.reconciler.installation_file import read_installation
from tests.harness.api_server.api_server import ApiServer
from tests.harness.machine.processes import Child, until
from tests.harness.operator.operator_processes import app, path_of, put
from tests.harness.operator.operator_start import OPERATOR_CODE


def _invoked(*args: object, **environment: str) -> Result:
    return CliRunner().invoke(operator, [str(arg) for arg in args], env=environment)


def test_a_kubeconfig_that_is_not_there_is_named(tmp_path: Path) -> None:
    result = _invoked(KUBECONFIG=str(tmp_path / "none"), KUBERNETES_SERVICE_HOST="")
    assert result.exit_code == 2
    assert f"there is no kubeconfig {tmp_path / 'none'}; name one with --kubeconfig" in result.output


def test_a_context_that_is_not_there_is_named(tmp_path: Path) -> None:
    config = tmp_path / "config"
    config.write_text(
        json.dumps({"current-context": "a", "contexts": [], "clusters": [], "users": []}), encoding="utf-8"
    )
    result = _invoked("--kubeconfig", config, "--context", "moon")
    assert result.exit_code == 2
    assert "moon" in result.output


def test_all_that_is_wrong_with_an_installation_is_told_at_once(tmp_path: Path) -> None:
    file = tmp_path / "installation.yaml"
    text = "alowed: [hostPath]\nallowed: {features: [root], secret: [x]}\ndriverRequests: 3\n"
    file.write_text(text, encoding="utf-8")
    result = _invoked("--installation", file)
    assert result.exit_code == 2
    assert 'alowed: there is no such field; did you mean "allowed"?' in result.output
    assert "allowed.features[0]: input should be 'hostNamespaces'" in result.output
    assert 'allowed.secret: there is no such field; did you mean "secrets"?' in result.output
    assert "driverRequests: input should be an object" in result.output


@pytest.mark.parametrize("text", ["", "{}", "# nothing"])
def test_an_empty_file_changes_nothing(text: str) -> None:
    assert read_installation(text) == Installation()


def test_an_installation_is_what_its_file_says() -> None:
    text = "image: a\nallowed: {features: [hostPath]}\nhostPathRoots: [/data]\nsparkConf: {spark.a: b}\n"
    assert read_installation(text, operator_class="blue") == Installation(
        image="a",
        operator_class="blue",
        host_path_roots=("/data",),
        allowed=frozenset({Allowance.HOST_PATH}),
        spark_conf={"spark.a": "b"},
    )


def test_an_image_on_the_command_line_goes_before_the_files() -> None:
    found = read_installation("image: a", image="b")
    assert isinstance(found, Installation)
    assert found.image == "b"


def test_roots_that_lie_in_each_other_are_refused() -> None:
    (problem,) = cast(
        "tuple[Problem, ...]", read_installation("hostPathRoots: [/r/fast/, /database, /data, /r]")
    )
    assert str(problem) == "hostPathRoots: /r/fast is inside /r; a root may not contain another root"


PEERS = "networkPolicy: {enabled: true, scrapers: [%s]}"
RULES = "networkPolicy: {enabled: true, egress: [%s]}"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            PEERS % "{podSelektor: {}}",
            "networkPolicy.scrapers[0].podSelektor: a peer of a NetworkPolicy has no such field; "
            'did you mean "podSelector"?',
        ),
        (
            PEERS % "{ipBlock: {}}",
            "networkPolicy.scrapers[0].ipBlock.cidr: missing; a NetworkPolicy needs it",
        ),
        (PEERS % "monitoring", "networkPolicy.scrapers[0]: input should be an object"),
        (
            RULES % "{ports: [{port: 9092}], from: []}",
            "networkPolicy.egress[0].from: an egress rule of a NetworkPolicy has no such field",
        ),
        (
            "networkPolicy: {enabeld: true}",
            'networkPolicy.enabeld: there is no such field; did you mean "enabled"?',
        ),
    ],
)
def test_network_rules_that_the_api_would_refuse_are_refused_at_the_start(text: str, problem: str) -> None:
    (found,) = cast("tuple[Problem, ...]", read_installation(text))
    assert str(found).startswith(problem)


@pytest.mark.parametrize("text", ["image: [", "- a", "image: 2026-01-01", "1: 2"])
def test_what_is_no_installation_is_refused(text: str) -> None:
    assert not isinstance(read_installation(text), Installation)


def test_it_looks_after_the_apps_of_a_cluster(api_server: ApiServer, namespace: str, tmp_path: Path) -> None:
    wanted = app(namespace)
    put(api_server, wanted)
    command = [sys.executable, "-c", OPERATOR_CODE, "--kubeconfig", str(api_server.kubeconfig("operator"))]
    options = ["-n", namespace, "--image", "runtime:test", "--port", "0"]
    with Child([*command, *options], tmp_path / "operator.log", os.environ) as child:

        def said() -> bool:
            found = api_server.ask("GET", path_of(wanted)).get("status", {})
            return any(one["type"] == "Accepted" for one in found.get("conditions", ()))

        until(said, 60, child)
