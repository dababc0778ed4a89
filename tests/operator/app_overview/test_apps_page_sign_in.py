"""Signing in to an operator's page of all apps, in a real browser and with a real API server behind it."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.harness.api_server.api_server import ApiServer
from tests.harness.machine.chromium import chromium
from tests.harness.machine.processes import until
from tests.harness.operator.operator_processes import Operator
from tests.harness.operator.small_apps import join

pytestmark = pytest.mark.browser
WHOLE = "tests.harness.operator.whole_operator"


def test_a_token_of_the_cluster_shows_the_apps_and_is_forgotten_on_demand(
    api_server: ApiServer, namespace: str, tmp_path: Path
) -> None:
    api_server.kubectl("create", "-n", namespace, "-f", "-", given=join("app"))
    with (
        Operator(api_server, namespace, tmp_path / "one.log", module=WHOLE) as operator,
        chromium() as browser,
    ):
        until(operator.leads, 30, operator)
        page = browser.new_page()
        page.goto(f"http://127.0.0.1:{operator.port('page_port')}/apps/")
        expect(page.locator("#sign-in")).to_be_visible()
        expect(page.locator("#state")).to_have_text("signed out")
        expect(page.locator("#sign-in-fault")).to_have_text("")

        page.get_by_role("textbox", name="Token").fill("wrong")
        page.keyboard.press("Enter")
        expect(page.locator("#sign-in-fault")).to_have_text("the API server does not accept this token")
        assert page.locator("#token").input_value() == ""

        page.get_by_role("textbox", name="Token").fill("admin")
        page.get_by_role("button", name="Show the apps").click()
        expect(page.locator("#apps tbody td").first).to_have_text("app")
        expect(page.locator("#sign-in")).to_be_hidden()
        page.locator("#apps tbody tr").click()
        expect(page.locator("#commands")).to_contain_text(f"streamapp why app --namespace {namespace}")

        page.reload()  # the token is kept for as long as the tab
        expect(page.locator("#apps tbody td").first).to_have_text("app")
        page.get_by_role("button", name="Forget the token").click()
        expect(page.locator("#sign-in")).to_be_visible()
        for part in ("#apps", "#counts", "#order", "#filter"):
            expect(page.locator(part)).to_be_hidden()
        assert page.evaluate("sessionStorage.length") == 0
        other = browser.new_page()
        other.goto(page.url)
        expect(other.locator("#sign-in")).to_be_visible()
