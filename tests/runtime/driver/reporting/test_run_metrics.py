"""What a scrape is given, against values that are counted here by other means."""

import re
import socket
import struct
import threading
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import generate_latest
from prometheus_client.parser import text_string_to_metric_families

from streamapp.exposition.metric import MetricKind
from streamapp_runtime.driver.batches.retries import OutageNotice, OutagePhase
from streamapp_runtime.driver.checkpoints.outbox_delivery import DeliveryStatus
from streamapp_runtime.driver.imports.table_refreshes import RefreshStatus
from streamapp_runtime.driver.reporting.metric_values import RunMetrics
from streamapp_runtime.driver.reporting.metrics_server import metrics_server, serve_metrics
from streamapp_runtime.driver.reporting.run_metrics import BOUNDS, METRICS
from streamapp_runtime.lanes.protocol.task_status import TaskStatus
from streamapp_runtime.systems.answering_systems import SilentSystem
from tests.harness.engine.batch_results import batch
from tests.harness.runs.run_process import got


def measured() -> RunMetrics:
    return RunMetrics()


def scraped(values: RunMetrics) -> str:
    return generate_latest(values.registry).decode()


def samples(text: str) -> dict[str, dict[tuple[tuple[str, str], ...], float]]:
    """The values of each sample, by its labels."""
    values: dict[str, dict[tuple[tuple[str, str], ...], float]] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            values.setdefault(sample.name, {})[tuple(sorted(sample.labels.items()))] = sample.value
    return values


def value(text: str, sample: str) -> float:
    (line,) = [line for line in text.splitlines() if line.startswith(f"{sample} ")]
    return float(line.rpartition(" ")[2])


@given(st.lists(st.floats(0, 100), max_size=50))
def test_a_bucket_counts_all_batches_that_were_no_longer(seconds: list[float]) -> None:
    values = measured()
    for each in seconds:
        values.batch_committed(batch(seconds=each))
    text = scraped(values)
    for bound in BOUNDS if seconds else ():
        sample = f'streamapp_batch_seconds_bucket{{le="{bound}",step="batch"}}'
        assert value(text, sample) == sum(each <= bound for each in seconds)
    if seconds:
        assert value(text, 'streamapp_batch_seconds_bucket{le="+Inf",step="batch"}') == len(seconds)
        assert value(text, 'streamapp_batch_seconds_sum{step="batch"}') == pytest.approx(sum(seconds))


def test_deliveries_are_counted_by_system_and_what_waits_is_told() -> None:
    values = measured()
    shop = DeliveryStatus("shop", waiting=5, delivered=40, commits=2)
    # Each table of a lake has commits of its own.
    values.deliveries_progressed((shop, DeliveryStatus("lake", waiting=1), DeliveryStatus("lake", waiting=2)))
    lake = DeliveryStatus("lake", delivered=3, commits=1)
    values.deliveries_progressed((replace(shop, waiting=0, delivered=45, commits=3, failures=1), lake, lake))
    scrape = samples(scraped(values))
    expected = {
        "streamapp_outbox_records": {"shop": 0, "lake": 0},
        "streamapp_delivered_records_total": {"shop": 45, "lake": 6},
        "streamapp_deliveries_total": {"shop": 3, "lake": 2},
        "streamapp_delivery_failures_total": {"shop": 1, "lake": 0},
    }
    assert {
        name: {labels[0][1]: one for labels, one in scrape[name].items()} for name in expected
    } == expected


def test_refreshes_and_their_failures_are_counted_by_stream() -> None:
    values = measured()
    prices, users = RefreshStatus("prices", versions=1), RefreshStatus("users", failures=2)
    values.tables_refreshed((prices,))
    values.tables_refreshed((replace(prices, versions=3), users))
    text = scraped(values)
    assert value(text, 'streamapp_table_refreshes_total{stream="prices"}') == 3
    assert value(text, 'streamapp_table_refresh_failures_total{stream="users"}') == 2


def test_a_system_that_does_not_answer_is_told_until_it_does() -> None:
    values = measured()
    values.systems_unavailable((SilentSystem("other", ("clicks",), "no broker can be reached"),))
    assert samples(scraped(values))["streamapp_system_silent"] == {(("system", "other"),): 1}
    values.systems_unavailable(())
    assert "streamapp_system_silent" not in samples(scraped(values))


def test_rows_that_lanes_committed_are_read_also_where_another_lane_failed() -> None:
    values = measured()
    for status, committed in ((TaskStatus.COMMITTED, 10), (TaskStatus.UNAVAILABLE, 4)):
        values.batch_committed(batch(status=status, given={"views": committed}))
    assert value(scraped(values), 'streamapp_rows_in_total{stream="views"}') == 14


def test_what_lanes_count_is_told_by_name_and_not_of_what_is_done_again() -> None:
    values = measured()
    for status in ("committed", "waiting", "committed"):
        counted = [("nullKeys", "users", 2), ("remoteAsked", "prices", 5)]
        values.batch_committed(batch(status=status, counted=counted))
    assert value(scraped(values), 'streamapp_null_keys_total{name="users"}') == 4
    assert value(scraped(values), 'streamapp_remote_lookups_total{table="prices"}') == 10


def test_what_was_written_is_told_by_stream_and_not_of_what_is_done_again() -> None:
    values = measured()
    for status in (TaskStatus.COMMITTED, TaskStatus.UNAVAILABLE, TaskStatus.COMMITTED):
        counted = [("rowsOut", "enriched", 3), ("bytesOut", "enriched", 40), ("bytesIn", "views", 90)]
        values.batch_committed(batch(status=status, counted=counted))
    assert value(scraped(values), 'streamapp_rows_out_total{stream="enriched"}') == 6
    assert value(scraped(values), 'streamapp_bytes_out_total{stream="enriched"}') == 80
    assert value(scraped(values), 'streamapp_bytes_in_total{stream="views"}') == 180


def test_a_failed_batch_is_counted() -> None:
    values = measured()
    values.batch_failed("why")
    assert value(scraped(values), "streamapp_batches_failed_total") == 1


def test_every_batch_that_fails_in_an_outage_is_counted() -> None:
    values = measured()
    values.outage(OutageNotice(OutagePhase.BEGUN, "a lane waits"))
    for number in (1, 2):
        values.outage(OutageNotice(OutagePhase.GOES_ON, "why", 15.0, number, of_batch=True))
    values.outage(OutageNotice(OutagePhase.OVER, "why", 20.0, 2))
    assert value(scraped(values), "streamapp_batches_failed_total") == 2


def test_names_with_quotes_and_line_ends_are_escaped() -> None:
    values = measured()
    values.batch_committed(batch(given={'a"b\\c\nd': 1}))
    assert r'streamapp_rows_in_total{stream="a\"b\\c\nd"} 1' in scraped(values)


def test_names_are_as_prometheus_wants_them() -> None:
    for metric in METRICS:
        assert re.fullmatch(r"streamapp_[a-z_]+", metric.name)
        assert metric.name.endswith("_total") == (metric.kind is MetricKind.COUNTER)


def test_there_are_no_samples_of_when_counting_began() -> None:
    values = measured()
    values.batch_committed(batch(given={"views": 10}))
    assert "_created" not in scraped(values)


def test_a_gauge_has_no_sample_before_it_is_known_and_none_of_a_stream_that_is_gone() -> None:
    values = measured()
    assert {"streamapp_incarnation", "streamapp_watermark_seconds"}.isdisjoint(samples(scraped(values)))
    values.batch_committed(batch(watermarks={"views": 1000, "users": 2000}))
    values.batch_committed(batch(watermarks={"users": 3000}))
    assert samples(scraped(values))["streamapp_watermark_seconds"] == {(("stream", "users"),): 3}


@pytest.mark.usefixtures("process")
def test_a_scrape_is_read_by_the_parser_of_prometheus_with_the_names_and_kinds_of_the_table() -> None:
    values = measured()
    values.batch_committed(batch(given={"views": 10}, watermarks={"views": 1000}))
    with serve_metrics(metrics_server(values.registry, 0)) as url:
        families = {family.name: family for family in text_string_to_metric_families(got(url)[2])}
    assert {metric.name.removesuffix("_total") for metric in METRICS} == families.keys()
    for metric in METRICS:
        family = families[metric.name.removesuffix("_total")]
        assert (family.type, family.documentation) == (metric.kind, metric.about)
        for sample in family.samples:
            assert sample.labels.keys() - {"le"} == set(metric.labels)


@pytest.mark.usefixtures("process")
def test_what_is_served_is_the_text_and_nothing_else_is_there() -> None:
    values = measured()
    with serve_metrics(metrics_server(values.registry, 0)) as url:
        for path in ("/metrics", "/", "/metrics?by=hand"):
            answer = (200, "text/plain; version=0.0.4; charset=utf-8", scraped(values))
            assert got(url.replace("/metrics", path)) == answer
        assert got(url.replace("/metrics", "/other"))[0] == 404
    with pytest.raises(ConnectionRefusedError):
        got(url)


@pytest.mark.usefixtures("process")
def test_a_reader_that_breaks_off_leaves_no_trace_in_the_log(capfd: pytest.CaptureFixture[str]) -> None:
    server = metrics_server(measured().registry, 0)
    with serve_metrics(server) as url:
        with socket.create_connection(("127.0.0.1", server.server_port)) as reader:
            reader.send(b"GE")
            reader.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        got(url)  # the one before was taken up by then
        for thread in threading.enumerate():
            if thread.name.endswith("(process_request_thread)"):
                thread.join(30)
    assert capfd.readouterr() == ("", "")


@pytest.mark.usefixtures("loopback")
def test_a_port_that_is_taken_is_an_error_at_once() -> None:
    server = metrics_server(measured().registry, 0)
    with serve_metrics(server), pytest.raises(OSError, match="in use"):
        metrics_server(measured().registry, server.server_port)
