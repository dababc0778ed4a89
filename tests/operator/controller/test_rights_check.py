"""`streamapp operator --check-rights`: the API server itself says what is missing."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from streamapp_operator.cli.operator import operator
from streamapp_operator.controller.rbac.access_reviews import required_reviews
from streamapp_operator.controller.rbac.operator_rights import RIGHTS
from tests.harness.api_server.api_server import ApiServer

QUICKSTART = Path(__file__).parents[3] / "docs" / "quickstart.md"


def asked(server: ApiServer, user: str, *args: str) -> Result:
    return CliRunner().invoke(
        operator, ["--check-rights", "--kubeconfig", str(server.kubeconfig(user)), *args]
    )


@pytest.mark.parametrize("where", [[], ["--namespace"]])
def test_an_operator_with_the_roles_of_the_table_lacks_nothing(
    api_server: ApiServer, namespace: str, where: list[str]
) -> None:
    of = [*where, namespace] if where else []
    result = asked(api_server, "operator", "--lease-namespace", namespace, *of)
    assert result.exit_code == 0, result.output
    wanted = len(list(required_reviews(of[1:], namespace)))
    assert result.output == f"{wanted} of {wanted} rights are granted\n"


def test_the_quickstart_tells_how_many_are_asked_for() -> None:
    wanted = len(list(required_reviews((), "streamapp-system")))
    assert f"\n{wanted} of {wanted} rights are granted\n" in QUICKSTART.read_text("utf-8")


def test_somebody_without_roles_lacks_everything(api_server: ApiServer, namespace: str) -> None:
    result = asked(api_server, "nobody", "--namespace", namespace)
    assert result.exit_code == 1
    assert f"not allowed: watch streamapps.streamapp.dev in {namespace}\n" in result.output
    assert f"not allowed: patch streamapps/status.streamapp.dev in {namespace}\n" in result.output
    assert f"not allowed: update leases.coordination.k8s.io in {namespace}\n" in result.output
    assert "\n0 of " in result.output


def test_the_one_right_that_is_missing_is_named(api_server: ApiServer) -> None:
    api_server.ask("POST", "/api/v1/namespaces", {"metadata": {"name": "nobody-leads-here"}})
    result = asked(api_server, "operator", "--lease-namespace", "nobody-leads-here")
    assert result.exit_code == 1
    missing = [line for line in result.output.splitlines() if line.startswith("not allowed")]
    assert missing == [
        f"not allowed: {verb} leases.coordination.k8s.io in nobody-leads-here"
        for verb in ("get", "create", "update")
    ]


def test_an_api_server_that_is_away_is_one_line(api_server: ApiServer) -> None:
    away = api_server.kubeconfig("operator", "https://127.0.0.1:1")
    result = CliRunner().invoke(operator, ["--check-rights", "--kubeconfig", str(away)])
    assert result.exit_code == 1
    assert result.output.startswith("Error: POST /apis/authorization.k8s.io")


def test_each_verb_of_each_right_is_asked_once() -> None:
    verbs = sum(len(right.verbs) for right in RIGHTS)
    assert len(list(required_reviews([], "here", apps_page=True))) == verbs
    assert len(list(required_reviews([], "here"))) == verbs - 2  # of which the page of all apps needs two


def test_nodes_are_asked_for_only_by_an_operator_of_all_namespaces() -> None:
    assert any(question.right.resource == "nodes" for question in required_reviews([], "here"))
    assert not any(question.right.resource == "nodes" for question in required_reviews(["shop"], "here"))
