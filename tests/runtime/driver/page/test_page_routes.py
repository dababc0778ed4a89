"""What a page's address answers, and whom."""

import json
import re
import socket
from dataclasses import replace
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import pytest
import yaml
from prometheus_client import CollectorRegistry

from streamapp.author.growth_outlook import GrowthOutlook
from streamapp.served_pages import shared_assets
from streamapp.served_pages.page_safety import CONTENT_POLICY
from streamapp.served_pages.shared_assets import SHARED_ASSETS
from streamapp.spec.parser import parse
from streamapp_runtime.driver.page import page_routes
from streamapp_runtime.driver.page.page_routes import HIDDEN_LINES, MOST_VIEWERS
from streamapp_runtime.driver.page.recent_lines import MOST_LINES, RecentLines
from streamapp_runtime.driver.page.running_app import OnDemand, shown_resource
from streamapp_runtime.driver.reporting.metrics_server import metrics_server, serve_metrics
from streamapp_runtime.driver.reporting.run_messages import RunMessage
from tests.harness.engine.batch_results import batch
from tests.harness.engine.watched_pages import WatchedRun, page_served, running
from tests.harness.graphs.graph_drawing import drawn, maps, reads
from tests.harness.graphs.shop_apps import shop
from tests.harness.operator.small_apps import join
from tests.harness.runs.run_process import got

pytestmark = pytest.mark.usefixtures("loopback")

ASSETS = Path(page_routes.__file__).parent / "assets"


def asked(url: str, method: str = "GET", **headers: str) -> HTTPResponse:
    where = urlsplit(url)
    connection = HTTPConnection(where.hostname or "", where.port, timeout=30)
    connection.request(method, where.path, headers=headers)
    return connection.getresponse()


@pytest.mark.usefixtures("process")
def test_without_a_page_there_is_nothing_below_its_address() -> None:
    with serve_metrics(metrics_server(CollectorRegistry(), 0)) as url:
        for path in ("/page", "/page/", "/page/data", "/page/events"):
            assert got(url.replace("/metrics", path))[0] == 404


@pytest.mark.usefixtures("process")
def test_with_a_page_metrics_are_where_they_were() -> None:
    with page_served(WatchedRun().recorder) as url:
        assert got(url.replace("/page/", "/metrics"))[:2] == (200, "text/plain; version=0.0.4; charset=utf-8")
        assert got(url.replace("/page/", "/pages"))[0] == 404
        assert got(url.replace("/page/", "/page"))[0] == 308


def test_every_answer_has_the_policy_and_is_for_pages_of_the_same_origin() -> None:
    run = WatchedRun()
    run.recorder.runs(running(shop(5)))
    with page_served(run.recorder) as url:
        for name in ("", "data", "plan.svg", "plan.css", "app_page.js", *SHARED_ASSETS, "events", "other"):
            answer = asked(url + name)
            assert answer.headers["Content-Security-Policy"] == CONTENT_POLICY
            assert answer.headers["Cross-Origin-Resource-Policy"] == "same-origin"
            assert answer.headers["X-Content-Type-Options"] == "nosniff"
            assert "Access-Control-Allow-Origin" not in answer.headers
            assert answer.status == (404 if name == "other" else 200)
            answer.close()


@pytest.mark.usefixtures("process")
def test_every_file_that_the_page_names_is_there_and_none_is_left_over() -> None:
    with page_served(WatchedRun().recorder) as url:
        html = got(url)[2]
        names = re.findall(r'(?:href|src)="([^"#:]+)"', html)
        assert len(names) == 9
        for name in names:
            assert got(url + name)[0] == 200
        served = {file.name for file in ASSETS.iterdir() if got(url + file.name)[0] == 200}
        assert {file.name for file in ASSETS.iterdir()} - served == {"app_page.html"}


@pytest.mark.usefixtures("process")
def test_the_history_of_a_stream_is_asked_for_by_the_name_that_is_shown() -> None:
    run = WatchedRun()
    run.recorder.runs(running(drawn(reads("a\nb&c"), maps("seen", "a\nb&c"))))
    run.batches(batch(given={"a\nb&c": 10}), count=3)
    with page_served(run.recorder) as url:
        status, kind, body = got(url + "history?" + urlencode({"stream": "a\\nb&c"}))
        assert (status, kind) == (200, "application/json; charset=utf-8")
        assert json.loads(body)["rowsIn"] == [5.0, 5.0, 5.0]
        for query in ("", "?stream=other", "?stream=a&stream=b"):
            assert got(url + "history" + query)[0] == 404


@pytest.mark.usefixtures("process")
def test_what_a_growth_would_change_is_asked_for_by_the_name_that_is_shown() -> None:
    run = WatchedRun()
    graph = drawn(reads("a\nb"), maps("seen", "a\nb"))
    outlook = GrowthOutlook("a\nb", 2, 4, "it cannot be")
    run.recorder.runs(replace(running(graph), on_demand=OnDemand(outlook={"a\nb": outlook}.get)))
    with page_served(run.recorder) as url:
        status, kind, body = got(url + "growth?" + urlencode({"stream": "a\\nb"}))
        assert (status, kind) == (200, "application/json; charset=utf-8")
        assert json.loads(body) == {"text": "With 4 partitions instead of 2: it cannot be"}
        assert got(url + "growth?stream=other")[0] == 404


def test_the_resource_that_runs_is_shown_without_secrets_and_defaults() -> None:
    data = join(env=[{"name": "WORD", "value": "a-word-that-nobody-may-read"}], onDataLoss="fail")
    (app,) = parse(yaml.safe_dump(data)).apps
    text = shown_resource(app)
    spec = yaml.safe_load(text)["spec"]
    assert spec["env"] == [{"name": "WORD", "value": "***"}]
    assert spec["streams"][0]["name"] == "views"
    assert "onDataLoss" not in spec
    run = WatchedRun()
    run.recorder.runs(replace(running(shop(3)), on_demand=OnDemand(resource=lambda: text)))
    with page_served(run.recorder) as url:
        assert got(url + "resource.yaml")[2] == text


def test_the_last_lines_of_a_run_are_shown_where_values_are() -> None:
    lines, written = RecentLines(), list[str]()
    write = lines.kept(lambda message: written.append(message.text))
    for number in range(MOST_LINES + 5):
        write(RunMessage(f"line {number}", {}, level="warn"))
    assert len(written) == MOST_LINES + 5
    for show_values in (True, False):
        with page_served(WatchedRun(show_values=show_values).recorder, lines=lines) as url:
            text = got(url + "lines.txt")[2]
        if show_values:
            assert [line.split()[1:] for line in text.splitlines()] == [
                ["warn", "line", str(number)] for number in range(5, MOST_LINES + 5)
            ]
        else:
            assert text == HIDDEN_LINES


def test_the_page_has_no_script_and_no_style_of_its_own() -> None:
    html = (ASSETS / "app_page.html").read_text()
    assert not re.search(r"<style|style=|\son\w+=|javascript:", html)
    assert all(script == "" for script in re.findall(r"<script[^>]*>(.*?)</script>", html, re.S))


def test_the_scripts_make_no_markup_of_texts() -> None:
    shared = Path(shared_assets.__file__).parent / "assets"
    for script in (ASSETS / "app_page.js", ASSETS / "plan_picture.js", shared / "live_page.js"):
        text = script.read_text()
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function", text
        )


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "", "[::1", "192.0.2.1"]
)
def test_a_host_that_is_not_this_machine_gets_nothing(host: str) -> None:
    with page_served(WatchedRun().recorder) as url:
        for name in ("", "data", "events"):
            assert asked(url + name, Host=host).status == 403


@pytest.mark.parametrize("host", ["localhost:1", "127.0.0.1", "LOCALHOST", "[::1]:9"])
def test_this_machine_by_any_of_its_names_is_answered(host: str) -> None:
    with page_served(WatchedRun().recorder) as url:
        assert asked(url + "data", Host=host).status == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "HEAD", "OPTIONS"])
def test_nothing_can_be_done_but_to_look(method: str) -> None:
    with page_served(WatchedRun().recorder) as url:
        assert asked(url + "data", method).status == 405


@pytest.mark.parametrize(
    "path", ["../page_routes.py", "%2e%2e/page_routes.py", "assets/app_page.js", "/etc/passwd"]
)
def test_nothing_but_the_files_of_the_page_is_served(path: str) -> None:
    with page_served(WatchedRun().recorder) as url:
        assert asked(url + path).status == 404


def test_events_bring_what_is_new_without_the_history() -> None:
    run = WatchedRun()
    run.recorder.runs(running(shop(5)))
    with page_served(run.recorder) as url:
        run.batches(batch(1, lags={"views": 5}), count=3)
        events = asked(url + "events")
        assert events.headers["Content-Type"] == "text/event-stream"
        first = _next_event(events)
        run.batches(batch(9, lags={"views": 6}), count=1)
        second = _next_event(events)
        while second["lag"] != 6:
            second = _next_event(events)
        events.close()
    assert first["lag"] == 5
    assert "history" not in first
    point = second["point"]
    assert isinstance(point, dict)
    assert point["at"] == run.clock.seconds


@pytest.mark.usefixtures("process")
def test_a_late_viewer_gets_the_history() -> None:
    run = WatchedRun()
    run.batches(batch(), count=40)
    with page_served(run.recorder) as url:
        history = json.loads(got(url + "data")[2])["history"]
    assert {len(column) for column in history.values()} == {40}


def test_viewers_are_bounded_and_one_that_leaves_makes_room() -> None:
    with page_served(WatchedRun().recorder, event_seconds=0.01) as url:
        viewers = [asked(url + "events") for _ in range(MOST_VIEWERS)]
        assert [viewer.status for viewer in viewers] == [200] * MOST_VIEWERS
        assert asked(url + "events").status == 503
        assert asked(url + "data").status == 200
        viewers[0].close()
        while (answer := asked(url + "events")).status == 503:
            pass
        for viewer in (*viewers, answer):
            viewer.close()


def test_the_end_of_a_run_ends_its_events_and_frees_the_port() -> None:
    with page_served(WatchedRun().recorder) as url:
        events = asked(url + "events")
        _next_event(events)
    assert events.read().count(b"data: ") < 5
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", urlsplit(url).port or 0))


def _next_event(events: HTTPResponse) -> dict[str, object]:
    while not (line := events.readline()).startswith(b"data: "):
        assert line
    event: dict[str, object] = json.loads(line.removeprefix(b"data: "))
    return event
