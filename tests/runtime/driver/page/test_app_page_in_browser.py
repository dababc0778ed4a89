"""The page of a running app in a real browser: what a reader sees of it, and what it asks for."""

import re
from dataclasses import replace

import pytest
from playwright.sync_api import Browser, Page, expect

from streamapp.author.growth_outlook import GrowthOutlook
from streamapp.placement.placement_reason import PlacementReason
from streamapp_runtime.driver.checkpoints.outbox_delivery import DeliveryStatus
from streamapp_runtime.driver.page.app_snapshot import HIDDEN_REASON
from streamapp_runtime.driver.page.recent_lines import RecentLines
from streamapp_runtime.driver.page.running_app import OnDemand, RunningApp
from streamapp_runtime.driver.reporting.run_messages import RunMessage
from streamapp_runtime.lanes.protocol.rejections import RejectionSample
from streamapp_runtime.lanes.protocol.task_status import TaskStatus
from tests.harness.engine.batch_results import batch
from tests.harness.engine.opened_pages import watched
from tests.harness.engine.watched_pages import WatchedRun, page_served, reports, running
from tests.harness.graphs.graph_drawing import drawn, maps, reads, sends
from tests.harness.graphs.shop_apps import shop
from tests.harness.machine.text_contrast import poor_contrasts
from tests.harness.repository.app_page_state_pictures import run_in_trouble, unavailable_table

pytestmark = pytest.mark.browser
HOSTILE = "<img src=x onerror=\"document.title='owned'\">"


def busy(app: RunningApp, show_values: bool = False) -> WatchedRun:
    """A run of which there is something in every panel."""
    run = WatchedRun(show_values=show_values)
    run.recorder.runs(app)
    streams = dict.fromkeys(app.plan.streams, 120)
    at = int(run.clock.seconds * 1000)
    counted = [("rowsOut", stream, 60) for stream in streams] + [("lateRows", "known", 3)]
    first, *others = reports(app)
    one = replace(
        batch(
            given=streams,
            lags=dict.fromkeys(streams, 1200),
            watermarks=dict.fromkeys(streams, at),
            rows_in=500,
            rows_out=200,
        ),
        rejected={("views", HOSTILE): 1},
        samples=(RejectionSample("views", 0, 7, HOSTILE, HOSTILE, f"{HOSTILE}{'x' * 150}"),),
        reports=(replace(first, counted=tuple(counted)), *others),
    )
    run.batches(one, count=30)
    run.recorder.batch_failed("unavailable: broker-1 does not answer")
    return run


def running_of(app: RunningApp) -> WatchedRun:
    """A run that has launched and read nothing yet."""
    run = WatchedRun()
    run.recorder.runs(app)
    return run


def cells(page: Page, section: str, column: int) -> list[str]:
    return page.locator(f"#{section} tbody tr:visible td:nth-child({column})").all_inner_texts()


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_page_reports_no_fault_and_asks_no_other_host(browser: Browser, dark: bool) -> None:
    run = busy(running(shop(12), tasks=8, processors=2))
    with watched(browser, run, dark=dark) as one:
        expect(one.page.locator(".plan .node").first).to_be_visible()
        run.batches(batch(50), count=2)
        expect(one.page.locator("#batches td").first).to_have_text("51")
        assert one.faults == []
        assert {url for url in one.requests if not url.startswith((one.url, "data:"))} == set()


def test_deliveries_are_shown_once_there_are_some(browser: Browser) -> None:
    run = busy(running(shop(12), tasks=8, processors=2))
    with watched(browser, run) as one:
        expect(one.page.locator("#batches td").first).to_be_visible()
        expect(one.page.locator("#deliveries")).not_to_be_visible()
        run.recorder.deliveries_progressed(
            (DeliveryStatus("lake", waiting=5, delivered=1200, commits=3, failures=1),)
        )
        run.batches(batch(50), count=2)
        expect(one.page.locator("#deliveries td")).to_have_text(["lake", "1,200", "5", "3", "1"])
        expect(one.page.locator("#deliveries td.warn")).to_have_text("1")
        assert one.faults == []


def test_a_chart_without_points_says_what_is_awaited(browser: Browser) -> None:
    run = running_of(running(shop(12), tasks=8, processors=2))
    with watched(browser, run) as one:
        awaited = one.page.locator(".awaited:visible")
        expect(awaited).to_have_count(6)
        expect(one.page.locator("#rows .u-legend")).not_to_be_visible()
        run.batches(batch(1, counted=[("latencyMs", "views", 40)]), count=2)
        expect(awaited).to_have_text(
            ["The first watermark is awaited: no record with an event time has been read."]
        )
        run.batches(batch(2, watermarks={"views": int(run.clock.seconds * 1000) - 7_000}), count=2)
        expect(awaited).to_have_count(0)
        expect(one.page.locator("#memory-now")).to_have_text(re.compile(r"^[\d.]+ MB driver, 0 B workers$"))
        expect(one.page.locator("#behind-now")).to_have_text(re.compile(r"\d+(\.\d)? s"))
        assert one.faults == []


def test_the_plan_has_rates_and_lag_on_its_edges_and_figures_below_its_nodes(browser: Browser) -> None:
    app = running(shop(12), tasks=8, processors=2, sizes={"totals": (10, 2_000_000)})
    with watched(browser, busy(app)) as one:
        plan = one.page.locator(".plan")
        expect(plan.locator(".flow", has_text="60/s").first).to_be_visible()
        expect(plan.locator(".flow.behind", has_text="lag 1.2k").first).to_be_visible()
        expect(plan.locator('[data-name="totals"] .figure')).to_have_text("~10 · 2.0 MB")
        expect(plan.locator('[data-name="known"] .figure')).to_have_text("60 s behind · 90 late")


def test_what_happens_is_shown_without_another_load(browser: Browser) -> None:
    app = running(shop(5), tasks=4, processors=2)
    run = busy(app)
    with watched(browser, run) as one:
        page = one.page
        expect(page.locator("#state")).to_have_text("running")
        restoring = reports(app, TaskStatus.RESTORING)
        run.batches(replace(batch(99), reports=restoring), count=1)
        expect(page.locator("#state")).to_have_text("restoring")
        expect(page.locator("#alerts li")).to_have_text(
            "4 tasks restoring: no rows for these until their stores are back"
        )
        run.batches(replace(batch(100), reports=reports(app)), count=1)
        expect(page.locator("#state")).to_have_text("running")
        expect(page.locator("#alerts li")).to_have_count(0)


def test_a_task_has_the_reason_for_its_processor_and_a_change_the_reasons_of_its_moves(
    browser: Browser,
) -> None:
    app = running(shop(5), tasks=4, processors=2)
    app = replace(app, reasons={"Partition 0": PlacementReason.MOVED_LOCATION_FULL})
    run = busy(app)
    with watched(browser, run) as one:
        page = one.page
        reasons = page.locator("#processors tbody tr", has_text="Partition 0").locator("td").last
        expect(reasons).to_have_text("moved: the processors at its location carry their share")
        unknown = page.locator("#processors tbody tr", has_text="Partition 1").locator("td").last
        expect(unknown).to_have_text("by an earlier driver")
        assert one.faults == []


def test_a_driver_that_is_gone_is_said_to_be(browser: Browser) -> None:
    run = busy(running(shop(5)))
    with page_served(run.recorder) as url:
        page = browser.new_page()
        page.goto(url)
        expect(page.locator("#state")).to_have_text("running")
    expect(page.locator("#state")).to_have_text("no answer")
    expect(page.locator("#alerts li.lost")).to_be_visible()
    page.close()


@pytest.mark.parametrize("show_values", [False, True])
def test_names_and_reasons_that_look_like_markup_are_text(browser: Browser, show_values: bool) -> None:
    graph = drawn(reads(HOSTILE), maps("seen", HOSTILE), sends("out", "seen", "b</script><b>"))
    app = running(graph, tasks=2)
    hostile_tasks = dict.fromkeys(app.partitions, (f"{HOSTILE}#0",))
    app = replace(app, name=HOSTILE, partitions=hostile_tasks, locations={"processor-0": HOSTILE})
    run = busy(app, show_values)
    run.recorder.batch_failed(f"unavailable: {HOSTILE}")
    run.recorder.batch_slow(HOSTILE)
    run.recorder.step_started(f"waits for {HOSTILE}", 0)
    with watched(browser, run) as one:
        page = one.page
        expect(page.locator("#name")).to_have_text(HOSTILE)
        expect(page.locator("#notes td:nth-child(3)", has_text="unavailable").first).to_contain_text(HOSTILE)
        assert HOSTILE in cells(page, "streams", 1)
        assert (HOSTILE in cells(page, "left-out", 3)) == show_values
        sample = page.locator("#left-out tbody tr", has_text="views#0").locator("td")
        expect(sample).to_have_text(
            ["views#0", "7", HOSTILE, f"{HOSTILE}{'x' * 150}", HOSTILE]
            if show_values
            else ["views#0", "7", "hidden", "hidden", HIDDEN_REASON]
        )
        expect(page.locator(".plan .node").first).to_be_visible()
        assert page.locator("img, b:not(figcaption b), main script").count() == 0
        assert page.title() != "owned"
        assert one.faults == []


def chart_lags(page: Page) -> list[float | None]:
    """The lags that a chart draws, from the oldest on."""
    drawn_lags: list[float | None] = page.evaluate(
        "charts.charts.find((one) => one.names[0] === 'lag').chart.data[1]"
    )
    return drawn_lags


def test_a_page_opened_late_has_the_history_of_the_stream_that_is_chosen(browser: Browser) -> None:
    run = busy(running(shop(5), tasks=4))
    with watched(browser, run) as one:
        page, select = one.page, one.page.locator("#charted")
        total = page.locator("#lag-now").inner_text()
        select.select_option("views")
        expect(page.locator("#lag-now")).to_have_text("1,200")
        expect(page.locator("#streams tr.chosen td").first).to_have_text("views")
        expect(page.get_by_role("img", name="Lag of views")).to_be_visible()
        assert chart_lags(page) == [1200] * 30
        run.batches(batch(90, given={"views": 10}, lags={"views": 77}), count=1)
        expect(page.locator("#lag-now")).to_have_text("77")
        assert chart_lags(page) == [1200] * 30 + [77]
        page.keyboard.press("Escape")
        expect(select).to_have_value("")
        expect(page.locator("#lag-now")).to_have_text("77")
        assert chart_lags(page)[0] == float(total.replace(",", ""))
        assert one.faults == []


def test_what_a_growth_would_change_is_shown_for_the_stream_that_is_chosen(browser: Browser) -> None:
    outlook = {"views": GrowthOutlook("views", 8, 16, HOSTILE)}.get
    with watched(
        browser, busy(replace(running(shop(5), tasks=4), on_demand=OnDemand(outlook=outlook)))
    ) as one:
        page, shown = one.page, one.page.locator(".outlook")
        page.locator("#charted").select_option("views")
        expect(shown).to_have_text(f"views: With 16 partitions instead of 8: {HOSTILE}")
        page.locator("#charted").select_option("users")
        expect(shown).to_be_empty()
        assert one.faults == []


def test_a_stream_is_chosen_in_the_plan_and_by_keyboard_in_its_row(browser: Browser) -> None:
    with watched(browser, busy(running(shop(5), tasks=4))) as one:
        page, select = one.page, one.page.locator("#charted")
        page.locator('.plan .node[data-name="views"]').click()
        expect(select).to_have_value("views")
        page.locator('.plan .node[data-name="known"]').click()  # an operator has no history
        expect(select).to_have_value("")
        page.locator("#streams tbody tr", has_text="users").first.focus()
        page.keyboard.press("Enter")
        expect(select).to_have_value("users")
        page.keyboard.press("Enter")
        expect(select).to_have_value("")


def test_charts_of_a_stream_that_another_model_has_no_more_are_those_of_all(browser: Browser) -> None:
    run = busy(running(shop(5), tasks=4))
    with watched(browser, run) as one:
        one.page.locator("#charted").select_option("views")
        graph = drawn(reads("orders"), maps("seen", "orders"), sends("out", "seen", "done"))
        run.recorder.runs(running(graph, tasks=4))
        run.batches(batch(91, given={"orders": 10}, lags={"orders": 3}), count=1)
        expect(one.page.locator("#charted")).to_have_value("")
        expect(one.page.locator("#charted option")).to_have_text(["all streams", "orders"])
        expect(one.page.locator("#lag-now")).to_have_text("3")


def test_the_settings_are_there_once_they_are_asked_for(browser: Browser) -> None:
    on_demand = OnDemand(resource=lambda: f"spec:\n  processors: 2 # {HOSTILE}\n")
    run = busy(replace(running(shop(3)), on_demand=on_demand))
    with watched(browser, run) as one:
        shown = one.page.locator("#resource pre")
        expect(shown).to_be_hidden()
        one.page.locator("#resource summary").click()
        expect(shown).to_have_text(re.compile("processors: 2 # <img"))


def test_the_newest_rows_of_the_stream_that_is_chosen_are_shown_as_text(browser: Browser) -> None:
    app = replace(running(shop(3)), on_demand=OnDemand(rows=lambda stream: f"0#7  {stream}  {HOSTILE}\n"))
    with watched(browser, busy(app, show_values=True)) as one:
        box = one.page.locator("#newest-rows")
        expect(box).to_be_hidden()
        for stream in ("views", "users"):
            one.page.locator("#streams tbody tr", has_text=stream).click()
            expect(box.locator("summary")).to_have_text(f"Newest rows of {stream}")
            if stream == "views":
                box.locator("summary").click()
            expect(box.locator("pre")).to_have_text(re.compile(f"0#7  {stream}  <img"))
        assert one.faults == []


def test_lines_that_come_while_the_log_is_open_are_shown_as_text(browser: Browser) -> None:
    run, lines = busy(running(shop(3)), show_values=True), RecentLines()
    with watched(browser, run, lines=lines) as one:
        one.page.locator("#lines summary").click()
        shown = one.page.locator("#lines pre")
        for text in ("10 rows in", HOSTILE):
            lines.add(RunMessage(text, {}), 0)
            run.batches(batch(91), count=1)
            expect(shown).to_contain_text(f"00:00:00 info  {text}")
        assert one.page.title() != "owned"
        assert one.faults == []


def test_the_filter_leaves_what_has_its_name_and_escape_gives_all_back(browser: Browser) -> None:
    with watched(browser, busy(running(shop(30), tasks=40, processors=10))) as one:
        page = one.page
        page.keyboard.press("/")
        page.keyboard.type("clean-1")
        expect(page.locator("#operators tbody tr:visible")).to_have_count(1)
        expect(page.locator('.plan .node.faint[data-name="clean-0"]')).to_have_count(1)
        page.locator("#filter").fill("processor-7")
        expect(page.locator("#processors details:visible")).to_have_count(1)
        page.keyboard.press("Escape")
        expect(page.locator("#processors details:visible")).to_have_count(10)


def test_the_keyboard_reaches_a_node_and_the_tasks_of_a_processor(browser: Browser) -> None:
    with watched(browser, busy(running(shop(12), tasks=200, processors=10))) as one:
        page = one.page
        page.locator('.plan .node[data-name="known"]').focus()
        page.keyboard.press("Enter")
        expect(page.locator("#operators tr.chosen td").first).to_have_text("known")
        page.locator("#processors summary").nth(3).focus()
        page.keyboard.press("Enter")
        expect(page.locator("#processors details[open] tbody tr")).to_have_count(20)


def test_a_large_app_can_be_read(browser: Browser) -> None:
    with watched(browser, busy(running(shop(60), tasks=1000, processors=100))) as one:
        page = one.page
        box = page.locator('.plan .node[data-name="matched-0"] .outline').bounding_box()
        assert box is not None
        assert box["width"] >= 120
        assert box["height"] >= 45
        expect(page.locator("#processors details")).to_have_count(100)
        expect(page.locator("#processors tbody tr")).to_have_count(0)  # written once they are opened
        assert page.evaluate("document.documentElement.scrollHeight") < 6_000
        page.get_by_role("button", name="Fit").click()
        width = page.locator(".plan").bounding_box()
        assert width is not None
        assert width["width"] <= page.locator("#canvas").evaluate("element => element.clientWidth")


@pytest.mark.parametrize("width", [400, 1400])
def test_the_page_is_no_wider_than_its_window(browser: Browser, width: int) -> None:
    with watched(browser, busy(running(shop(12), tasks=8, processors=2)), width=width) as one:
        expect(one.page.locator(".plan .node").first).to_be_visible()
        assert one.page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_table_of_state_shows_all_columns_beside_another(browser: Browser) -> None:
    with watched(browser, run_in_trouble(unavailable_table), width=1280) as one:
        table = one.page.locator("#stores .scroll")
        expect(table.locator("th").last).to_have_text("no answer")
        assert table.evaluate("element => element.scrollWidth <= element.clientWidth")


def test_new_figures_move_nothing(browser: Browser) -> None:
    run = busy(running(shop(12), tasks=8, processors=2))
    with watched(browser, run) as one:
        page = one.page
        expect(page.locator(".plan .node").first).to_be_visible()
        expect(page.locator("#batches td").first).to_have_text("30")
        page.evaluate(
            """() => { window.shifts = [];
            const note = (list) => { for (const one of list.getEntries()) window.shifts.push(one.value); };
            new PerformanceObserver(note).observe({ type: "layout-shift" }); }"""
        )
        for number in (50, 60, 70):
            run.batches(batch(number, rows_in=10 ** number.bit_length()), count=2)
            expect(page.locator("#batches td").first).to_have_text(str(number + 1))
        assert sum(page.evaluate("window.shifts")) < 0.01


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_every_text_stands_out_from_its_ground(browser: Browser, dark: bool) -> None:
    run = busy(running(shop(12), tasks=8, processors=2))
    run.recorder.batch_slow("the batch takes long")
    with watched(browser, run, dark=dark) as one:
        expect(one.page.locator("#alerts li")).to_have_count(1)
        named = "h1, h2, #state, #facts dt, #facts dd, #activity, #alerts li, figcaption, button"
        texts = one.page.locator(f"{named}, th, td:not(:empty), summary span")
        assert poor_contrasts(texts, at_least=50) == {}
