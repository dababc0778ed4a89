"""`streamapp top --page` at a real terminal and in a pipe, beside pages that drivers serve."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from prometheus_client import CollectorRegistry

from examples.sample_data import Sample
from streamapp.cli.app_table.figures_table import SORTS
from streamapp.cli.main import root
from streamapp_runtime.driver.reporting.metrics_server import metrics_server, serve_metrics
from tests.harness.engine.batch_results import batch
from tests.harness.engine.watched_pages import BEGAN, WatchedRun, page_served, reports, running
from tests.harness.graphs.shop_apps import shop
from tests.harness.machine.processes import free_port
from tests.harness.machine.terminal_process import terminal_process
from tests.harness.runs.run_process import Running
from tests.harness.runs.written_sample import written

STREAMAPP = str(Path(sys.executable).with_name("streamapp"))
OTHER_SCREEN, FORMER_SCREEN = "\x1b[?1049h", "\x1b[?1049l"


def watched(name: str = "shop.page-views", lag: int = 12_345, tasks: int = 4) -> WatchedRun:
    """A run of which every figure is known; its watermark is 90 seconds behind at the last batch."""
    run = WatchedRun()
    app = replace(running(shop(3), tasks, 2, sizes={"users": (1_000, 242_000)}), name=name)
    run.recorder.runs(app)
    counted = [("rowsOut", "enriched", 40)]
    watermarks = {"views": int((BEGAN + 40 - 90) * 1000)}
    one = batch(given={"views": 100}, lags={"views": lag}, counted=counted, watermarks=watermarks)
    run.batches(replace(one, reports=(*one.reports, *reports(app))), count=20)
    run.clock.seconds += 7.0
    return run


@pytest.fixture
def page() -> Iterator[str]:
    with page_served(watched().recorder) as url:
        yield url


@pytest.fixture(scope="module")
def idle_app(sample_data: Sample, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """An app with a page that has read everything and goes on running."""
    running = Running.start(written(sample_data, tmp_path_factory.mktemp("top")), "--page")
    try:
        running.until(lambda said: said.get("event") == "idle")
        yield running
    finally:
        running.process.kill()
        running.process.communicate()


def once(*words: str) -> Result:
    """The command in the test's own process, whose output is no terminal."""
    return CliRunner().invoke(root, ["top", *words], prog_name="streamapp")


def cells(line: str) -> list[str]:
    return line.split()


def document(*words: str) -> Any:
    done = once(*words, "-o", "json")
    assert done.exit_code == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.usefixtures("process")
def test_in_a_pipe_the_table_is_printed_once_with_every_column(page: str) -> None:
    done = subprocess.run([STREAMAPP, "top", "--page", page], capture_output=True, text=True, check=False)
    head, row, *_ = done.stdout.splitlines()
    assert (done.returncode, done.stderr) == (0, "")
    assert dict(zip(cells(head), cells(row), strict=True)) == {
        "NAME": "shop.page-views",
        "PHASE": "Running",
        "READY": "-",
        "GEN": "-",
        "PROC": "2",
        "TASKS": "4",
        "IN/S": "50",
        "OUT/S": "20",
        "LAG": "12.3k",
        "BEHIND": "97s",
        "RESTARTS": "-",
        "AGE": "7s",
    }
    assert "\x1b" not in done.stdout


@pytest.mark.usefixtures("loopback")
def test_one_app_is_shown_with_its_streams_tables_and_tasks(page: str) -> None:
    lines = [cells(line) for line in once("--page", page).stdout.splitlines()]
    assert ["views", "input", "8", "50", "-", "12.3k", "97s"] in lines
    assert ["enriched", "output", "8", "-", "20", "0", "-"] in lines
    assert ["users", "table", "~1000", "242", "kB"] in lines
    tasks = [line for line in lines if line[:1] == ["Partition"]]
    assert [line[2] for line in tasks] == ["processor-0", "processor-0", "processor-1", "processor-1"]
    assert {line[3] for line in tasks} == {"working"}


@pytest.mark.usefixtures("loopback")
def test_json_has_all_figures_in_full(page: str) -> None:
    (app,) = document("--page", page)["apps"]
    assert (app["lag"], app["lagIsBound"], app["behind"], app["age"]) == (12_345, False, 97.0, 7.0)
    assert (app["rowsIn"], app["rowsOut"], app["tasks"], app["processors"]) == (50, 20, 4, 2)
    assert (app["namespace"], app["ready"], app["generation"], app["restarts"]) == (None,) * 4
    (users,) = [table for table in app["run"]["tables"] if table["name"] == "users"]
    assert users == {"name": "users", "kind": "table", "entries": 1_000, "size": 242_000}
    assert len(app["run"]["tasks"]) == 4


@pytest.mark.usefixtures("loopback")
def test_apps_are_sorted_by_lag_unless_another_column_is_named() -> None:
    with ExitStack() as pages:
        urls = [
            pages.enter_context(page_served(watched(name, lag, tasks).recorder))
            for name, lag, tasks in (("b", 5, 4), ("a", 5, 2), ("c", 900, 3))
        ]
        addresses = [word for url in urls for word in ("--page", url)]

        def order(*words: str) -> list[str]:
            return [app["name"] for app in document(*addresses, *words)["apps"]]

        assert order() == ["c", "a", "b"]
        assert order("--sort", "name") == ["a", "b", "c"]
        assert order("--sort", "tasks") == ["b", "c", "a"]
        assert all(sorted(order("--sort", sort)) == ["a", "b", "c"] for sort in SORTS)
        assert "STREAM" not in once(*addresses).stdout


@pytest.mark.usefixtures("loopback")
def test_before_the_first_batch_nothing_is_known_and_nothing_is_made_up() -> None:
    with page_served(WatchedRun().recorder) as url:
        (app,) = document("--page", url)["apps"]
    assert (app["name"], app["phase"]) == ("(starting)", "Starting")
    assert (app["lag"], app["rowsIn"], app["rowsOut"], app["behind"]) == (None,) * 4


@pytest.mark.usefixtures("process")
def test_an_app_that_runs_is_found_by_the_address_that_it_prints(idle_app: Running) -> None:
    (url,) = [said["url"] for said in idle_app.said if said.get("event") == "page"]
    (app,) = document("--page", url)["apps"]
    assert (app["name"], app["processors"], app["tasks"]) == ("shop.country-views", 1, 4)
    assert (app["phase"], app["lag"]) == ("Running", 0)
    (views,) = [stream for stream in app["run"]["streams"] if stream["name"] == "views"]
    assert views["partitions"] == 4


@pytest.mark.parametrize(
    "address", ["", "shop", "127.0.0.1", "https://127.0.0.1:1", "http://127.0.0.1:99999"]
)
def test_what_is_no_address_is_refused(address: str) -> None:
    done = once("--page", address)
    assert done.exit_code == 2
    assert "--page" in done.stderr


@pytest.mark.parametrize("words", [["app"], ["-n", "shop"], ["-A"], ["--context", "c"]])
def test_pages_of_this_machine_and_apps_of_a_cluster_are_not_mixed(words: list[str]) -> None:
    done = once("--page", "127.0.0.1:1", *words)
    assert (done.exit_code, "--page is about apps on this machine" in done.stderr) == (2, True)


@pytest.mark.usefixtures("loopback")
def test_where_nothing_answers_it_ends_with_3_and_says_so() -> None:
    port = free_port()
    done = once("--page", f"127.0.0.1:{port}")
    assert done.exit_code == 3
    assert done.stderr == f"Error: no answer from http://127.0.0.1:{port}/page/: Connection refused\n"
    assert "problems" in json.loads(once("--page", f"127.0.0.1:{port}", "-o", "json").stdout)


@pytest.mark.usefixtures("process")
def test_a_driver_that_accepts_and_does_not_answer_is_not_waited_for_long() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        done = once("--page", f"127.0.0.1:{silent.getsockname()[1]}")
    assert (done.exit_code, "nothing came within 2 s" in done.stderr) == (3, True)


@pytest.mark.usefixtures("loopback")
def test_a_driver_without_a_page_is_named_and_the_others_are_shown(page: str) -> None:
    with serve_metrics(metrics_server(CollectorRegistry(), 0)) as url:
        done = once("--page", page, "--page", url)
    assert (done.exit_code, len(done.stdout.splitlines())) == (0, 2)
    address = url.replace("/metrics", "/page/")
    assert done.stderr.startswith(f"not read: no answer from {address}: it answers 404: ")


@pytest.mark.usefixtures("loopback")
def test_a_page_of_another_version_is_refused_as_a_whole(page: str) -> None:
    def respond(_: object, start_response: Any) -> list[bytes]:
        start_response("200 OK", [("Content-Type", "application/json")])
        return [b'{"app": "shop.page-views"}']

    with serve_metrics(metrics_server(CollectorRegistry(), 0, routes={"/page": respond})) as url:
        done = once("--page", url)
    assert (done.exit_code, "the page is of another version of streamapp" in done.stderr) == (3, True)


def top(*words: str, **options: Any) -> Any:
    return terminal_process([STREAMAPP, "top", "--interval", "0.5", *words], **options)


def row(frame: str) -> list[str]:
    """The cells of the first app."""
    lines = frame.splitlines()
    (head,) = [number for number, line in enumerate(lines) if line.startswith("NAME")]
    return cells(lines[head + 1])


@pytest.mark.usefixtures("process")
def test_on_a_terminal_the_table_follows_the_app_until_ctrl_c_and_leaves_the_screen_as_it_was() -> None:
    run = watched()
    with page_served(run.recorder) as url, top("--page", url) as terminal:
        assert "12.3k" in row(terminal.until_frame(lambda frame: "shop.page-views" in frame))
        run.batches(batch(given={"views": 100}, lags={"views": 77}), count=1)
        assert "77" in row(terminal.until_frame(lambda frame: "12.3k" not in frame))
        assert terminal.press_ctrl_c() == 0
        assert terminal.raw.startswith(OTHER_SCREEN)
        assert terminal.raw.removesuffix("^C").endswith(FORMER_SCREEN)
        assert terminal.raw.count(OTHER_SCREEN) == terminal.raw.count(FORMER_SCREEN) == 1


@pytest.mark.usefixtures("process")
def test_a_sigterm_gives_the_screen_back_too(page: str) -> None:
    with top("--page", page) as terminal:
        terminal.until_frame(lambda frame: "shop.page-views" in frame)
        assert terminal.signal(signal.SIGTERM) == 128 + signal.SIGTERM
        assert terminal.raw.endswith(FORMER_SCREEN)


@pytest.mark.usefixtures("process")
def test_ctrl_z_gives_the_screen_back_until_the_table_goes_on(page: str) -> None:
    with top("--page", page) as terminal:
        terminal.until_frame(lambda frame: "shop.page-views" in frame)
        os.write(terminal.leader, b"\x1a")  # nothing stops it here: no shell could continue it
        terminal.until_raw(lambda raw: raw.count(OTHER_SCREEN) == 2)
        assert terminal.raw.index(FORMER_SCREEN) < terminal.raw.rindex(OTHER_SCREEN)
        terminal.until_frame(lambda frame: "shop.page-views" in frame)
        assert terminal.press_ctrl_c() == 0
        assert terminal.raw.endswith(FORMER_SCREEN)


@pytest.mark.usefixtures("process")
def test_a_driver_that_stops_to_answer_keeps_its_last_figures_until_it_is_back() -> None:
    port = free_port()
    with top("--page", f"127.0.0.1:{port}") as terminal:
        assert terminal.ended() == 3, "what is wrong at first is said, and the screen stays"
    with ExitStack() as terminals:
        with page_served(watched().recorder, port=port):
            terminal = terminals.enter_context(top("--page", f"127.0.0.1:{port}"))
            terminal.until_frame(lambda frame: "Running" in frame)
        gone = terminal.until_frame(lambda frame: "NoAnswer" in frame)
        assert f"no answer from http://127.0.0.1:{port}/page/: Connection refused" in gone
        assert {"12.3k", "50", "20"} <= set(row(gone))
        assert int(row(gone)[-1].removesuffix("s")) >= 7
        with page_served(watched(lag=5).recorder, port=port):
            back = terminal.until_frame(lambda frame: "NoAnswer" not in frame)
        assert "5" in row(back)


@pytest.mark.usefixtures("process")
def test_a_driver_that_hangs_is_told_from_one_that_runs(idle_app: Running) -> None:
    (url,) = [said["url"] for said in idle_app.said if said.get("event") == "page"]
    with top("--page", url) as terminal:
        terminal.until_frame(lambda frame: "Running" in frame)
        idle_app.process.send_signal(signal.SIGSTOP)
        try:
            hung = terminal.until_frame(lambda frame: "NoAnswer" in frame)
            assert "nothing came within 2 s" in hung
        finally:
            idle_app.process.send_signal(signal.SIGCONT)
        terminal.until_frame(lambda frame: "NoAnswer" not in frame)
        assert terminal.press_ctrl_c() == 0


def fits(frame: str, columns: int, lines: int) -> bool:
    shown = frame.splitlines()
    return len(shown) <= lines and max(map(len, shown)) <= columns


@pytest.mark.usefixtures("process")
def test_the_table_fits_80_columns_and_follows_the_size_of_the_terminal(page: str) -> None:
    with top("--page", page, size=(80, 24)) as terminal:
        frame = terminal.until_frame(lambda frame: "NAME" in frame)
        assert fits(frame, 80, 24)
        assert {"NAME", "PHASE", "IN/S", "OUT/S", "LAG", "BEHIND", "AGE"} <= set(cells(frame.splitlines()[2]))
        terminal.resize(40, 10)
        narrow = terminal.until_frame(lambda frame: fits(frame, 40, 10))
        assert "more lines" in narrow.splitlines()[-1]
        assert {"NAME", "PHASE", "IN/S", "LAG"} <= set(cells(narrow.splitlines()[2]))
        terminal.resize(160, 50)
        wide = terminal.until_frame(lambda frame: "RESTARTS" in frame)
        assert "GEN" in cells(wide.splitlines()[2])


@pytest.mark.usefixtures("process")
def test_no_color_leaves_colours_out(page: str) -> None:
    for environment, coloured in (({}, True), ({"NO_COLOR": "1"}, False)):
        with top("--page", page, environment=environment) as terminal:
            terminal.until_frame(lambda frame: "shop.page-views" in frame)
            assert terminal.has_colours() is coloured


@pytest.mark.usefixtures("process")
def test_once_and_dumb_terminals_get_lines(page: str) -> None:
    for words, environment in ((("--once",), {}), ((), {"TERM": "dumb"})):
        with top("--page", page, *words, environment=environment) as terminal:
            assert terminal.ended() == 0
            assert "\x1b[H" not in terminal.raw
            assert "shop.page-views" in terminal.raw


@pytest.mark.usefixtures("loopback")
def test_what_a_page_says_cannot_steer_the_terminal() -> None:
    def respond(_: object, start_response: Any) -> list[bytes]:
        start_response("500 Internal Server Error", [("Content-Type", "text/plain")])
        return [b"\x1b]0;owned\x07\nnext line"]

    with serve_metrics(metrics_server(CollectorRegistry(), 0, routes={"/page": respond})) as url:
        done = once("--page", url)
    assert "\\x1b]0;owned" in done.stderr
    assert "\x1b" not in done.stderr
