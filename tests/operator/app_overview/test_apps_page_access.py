"""Who sees which apps on an operator's page of all apps: a real API server reviews tokens and rights."""

import asyncio
import json
from collections.abc import Iterator
from email.message import Message
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

from streamapp_operator.app_overview.viewer_rights import (
    ANSWER_SECONDS,
    MOST_ANSWERS,
    ReviewedAccess,
    UnknownViewerError,
)
from streamapp_operator.controller.client.api_errors import RejectedError
from streamapp_operator.controller.client.api_requests import ApiTransport
from streamapp_operator.controller.client.client_configuration import load_configuration
from tests.harness.api_server.api_server import ApiServer
from tests.harness.api_server.granted_rights import grant_apps, user, withdraw_apps
from tests.harness.machine.processes import until
from tests.harness.operator.operator_processes import Operator
from tests.harness.operator.small_apps import join

WHOLE = "tests.harness.operator.whole_operator"
NOBODY = {"Authorization": "Bearer nobody"}
ADMIN = {"Authorization": "Bearer admin"}


@pytest.fixture
def other(api_server: ApiServer, namespace: str) -> str:
    name = f"{namespace}-other"
    api_server.new_namespace(name)
    return name


@pytest.fixture
def serving(api_server: ApiServer, namespace: str, other: str, tmp_path: Path) -> Iterator[Operator]:
    """An operator of two namespaces with an app in each."""
    with Operator(api_server, f"{namespace},{other}", tmp_path / "one.log", module=WHOLE) as one:
        for where in (namespace, other):
            api_server.kubectl("create", "-n", where, "-f", "-", given=join("app"))
        until(lambda: len(apps(one, ADMIN)) == 2, 60, one)
        yield one


def asked(operator: Operator, path: str, headers: dict[str, str]) -> tuple[int, Message, str]:
    connection = HTTPConnection("127.0.0.1", operator.port("page_port"), timeout=30)
    connection.request("GET", path, headers=headers)
    reply = connection.getresponse()
    text = reply.read().decode()
    connection.close()
    return reply.status, reply.headers, text


def apps(operator: Operator, headers: dict[str, str]) -> list[dict[str, Any]]:
    code, _, text = asked(operator, "/apps/data", headers)
    return list(json.loads(text)["apps"]) if code == 200 else []


@pytest.mark.usefixtures("process")
@pytest.mark.parametrize(
    "headers",
    [{}, {"Authorization": "Bearer wrong"}, {"Authorization": "Bearer "}, {"Authorization": "Basic YTpi"}],
    ids=["none", "wrong", "empty", "password"],
)
def test_without_a_token_of_the_cluster_nothing_is_shown_but_the_form(
    serving: Operator, headers: dict[str, str]
) -> None:
    for path in ("/apps/data", "/apps/app?namespace=shop&name=app"):
        code, answer, text = asked(serving, path, headers)
        assert (code, answer["WWW-Authenticate"]) == (401, "Bearer")
        assert "token" in text
    code, answer, text = asked(serving, "/apps/", headers)
    assert (code, "StreamApps" in text) == (200, True)
    assert "default-src 'none'" in answer["Content-Security-Policy"]
    assert asked(serving, "/apps", headers)[1]["Location"] == "apps/"
    assert asked(serving, "/apps/apps_page.py", headers)[0] == 404


def test_a_viewer_sees_the_apps_of_the_namespaces_that_the_token_may_list(
    serving: Operator, api_server: ApiServer, namespace: str, other: str
) -> None:
    assert {app["namespace"] for app in apps(serving, ADMIN)} == {namespace, other}
    grant_apps(api_server, other, user("nobody"), "list")
    assert {app["namespace"] for app in apps(serving, NOBODY)} == {other}
    assert asked(serving, f"/apps/app?namespace={other}&name=app", NOBODY)[0] == 200
    for hidden in (f"namespace={namespace}&name=app", "namespace=nowhere&name=app", "", "namespace=../x"):
        assert asked(serving, f"/apps/app?{hidden}", NOBODY)[0] == 404


def test_the_token_of_a_service_account_is_known_by_its_groups(
    serving: Operator, api_server: ApiServer, namespace: str
) -> None:
    accounts = f"/api/v1/namespaces/{namespace}/serviceaccounts"
    api_server.ask("POST", accounts, {"metadata": {"name": "viewer"}})
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    token = api_server.ask("POST", f"{accounts}/viewer/token", request)["status"]["token"]
    group = {**user(f"system:serviceaccounts:{namespace}"), "kind": "Group"}
    grant_apps(api_server, namespace, group, "list")
    (app,) = apps(serving, {"Authorization": f"Bearer {token}"})
    assert (app["namespace"], app["name"]) == (namespace, "app")


@pytest.mark.usefixtures("process")
def test_what_a_viewer_has_already_is_not_sent_again(serving: Operator) -> None:
    until(lambda: {app["phase"] for app in apps(serving, ADMIN)} == {"Launching"}, 60, serving)
    code, answer, text = asked(serving, "/apps/data", ADMIN)
    assert (code, "lag" in text) == (200, True)
    code, again, text = asked(serving, "/apps/data", {**ADMIN, "If-None-Match": answer["ETag"]})
    assert (code, text) == (304, "")
    assert again["Cache-Control"] == "no-store"


@pytest.mark.usefixtures("process")
def test_no_token_comes_into_the_log(serving: Operator) -> None:
    asked(serving, "/apps/data", {"Authorization": "Bearer planted-in-a-header"})
    assert "planted-in-a-header" not in serving.said()


async def reviewed(
    server: ApiServer, as_user: str, seconds: list[float], requests: list[str]
) -> tuple[ReviewedAccess, ApiTransport]:
    transport = ApiTransport(
        await load_configuration(server.kubeconfig(as_user), None), lambda verb, _: requests.append(verb)
    )
    return ReviewedAccess(transport, lambda: seconds[0]), transport


def test_an_answer_counts_for_a_minute_and_a_right_that_is_taken_away_ends_with_it(
    api_server: ApiServer, namespace: str
) -> None:
    grant_apps(api_server, namespace, user("nobody"), "list")
    seconds, requests = [0.0], list[str]()

    async def seen() -> tuple[frozenset[str], ...]:
        access, transport = await reviewed(api_server, "operator", seconds, requests)
        first = await access.visible("Bearer nobody", {namespace})
        asked_once = len(requests)
        withdraw_apps(api_server, namespace, "list")
        second = await access.visible("bearer nobody", {namespace})
        assert len(requests) == asked_once
        seconds[0] += ANSWER_SECONDS
        while third := await access.visible("Bearer nobody", {namespace}):
            seconds[0] += ANSWER_SECONDS  # the API server's own caches have some milliseconds
        await transport.close()
        return first, second, third

    assert asyncio.run(seen()) == ({namespace}, {namespace}, frozenset())


def test_answers_to_guessed_tokens_take_bounded_room(api_server: ApiServer) -> None:
    async def guess() -> None:
        access, transport = await reviewed(api_server, "operator", [0.0], [])
        guesses = [access.visible(f"Bearer guess-{number}", ()) for number in range(MOST_ANSWERS + 64)]
        for start in range(0, len(guesses), 256):
            refusals = await asyncio.gather(*guesses[start : start + 256], return_exceptions=True)
            assert {type(refusal) for refusal in refusals} == {UnknownViewerError}
        assert len(access._answers) == MOST_ANSWERS
        await transport.close()

    asyncio.run(guess())


def test_an_operator_without_the_rights_for_its_page_says_so(api_server: ApiServer) -> None:
    async def ask() -> None:
        access, transport = await reviewed(api_server, "nobody", [0.0], [])
        try:
            await access.visible("Bearer admin", ())
        finally:
            await transport.close()

    with pytest.raises(RejectedError, match='cannot create resource "tokenreviews"'):
        asyncio.run(ask())
