"""The text that Prometheus reads, against values that are counted here by other means."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamapp.exposition.metric import MetricKind
from streamapp_runtime.driver.reporting.metric_values import RunMetrics
from streamapp_runtime.driver.reporting.metrics_server import metrics_server, serve_metrics
from streamapp_runtime.driver.reporting.run_metrics import BOUNDS, METRICS
from tests.engine.cli.batches import batch
from tests.engine.cli.running import got


def measured() -> RunMetrics:
    return RunMetrics(lambda: 0.0)


def value(text: str, sample: str) -> float:
    (line,) = [line for line in text.splitlines() if line.startswith(f"{sample} ")]
    return float(line.rpartition(" ")[2])


@given(st.lists(st.floats(0, 100), max_size=50))
def test_a_bucket_counts_all_batches_that_were_no_longer(seconds: list[float]) -> None:
    values = measured()
    for each in seconds:
        values.batch(batch(seconds=each))
    text = values.text()
    for bound in BOUNDS if seconds else ():
        sample = f'streamapp_batch_seconds_bucket{{step="batch",le="{bound:g}"}}'
        assert value(text, sample) == sum(each <= bound for each in seconds)
    if seconds:
        assert value(text, 'streamapp_batch_seconds_bucket{step="batch",le="+Inf"}') == len(seconds)
        assert value(text, 'streamapp_batch_seconds_sum{step="batch"}') == pytest.approx(sum(seconds))


def test_rows_of_a_batch_that_was_not_committed_are_not_counted_as_read() -> None:
    values = measured()
    for status in ("committed", "unavailable", "committed"):
        values.batch(batch(status=status, given={"views": 10}))
    assert value(values.text(), 'streamapp_rows_in_total{stream="views"}') == 20


def test_what_lanes_count_is_told_by_name_and_not_of_what_is_done_again() -> None:
    values = measured()
    for status in ("committed", "waiting", "committed"):
        counted = [("nullKeys", "users", 2), ("remoteAsked", "prices", 5)]
        values.batch(batch(status=status, counted=counted))
    assert value(values.text(), 'streamapp_null_keys_total{name="users"}') == 4
    assert value(values.text(), 'streamapp_remote_keys_asked_total{table="prices"}') == 10


def test_what_was_written_is_told_by_stream_and_not_of_what_is_done_again() -> None:
    values = measured()
    for status in ("committed", "unavailable", "committed"):
        counted = [("rowsOut", "enriched", 3), ("bytesOut", "enriched", 40), ("bytesIn", "views", 90)]
        values.batch(batch(status=status, counted=counted))
    assert value(values.text(), 'streamapp_rows_out_total{stream="enriched"}') == 6
    assert value(values.text(), 'streamapp_bytes_out_total{stream="enriched"}') == 80
    assert value(values.text(), 'streamapp_bytes_in_total{stream="views"}') == 180


def test_a_failed_batch_is_counted() -> None:
    values = measured()
    values.trouble("why")
    assert value(values.text(), "streamapp_batches_failed_total") == 1


def test_names_with_quotes_and_line_ends_are_escaped() -> None:
    values = measured()
    values.batch(batch(given={'a"b\\c\nd': 1}))
    assert r'streamapp_rows_in_total{stream="a\"b\\c\nd"} 1' in values.text()


def test_names_are_as_prometheus_wants_them() -> None:
    for metric in METRICS:
        assert re.fullmatch(r"streamapp_[a-z_]+", metric.name)
        assert metric.name.endswith("_total") == (metric.kind is MetricKind.COUNTER)


def test_what_is_served_is_the_text_and_nothing_else_is_there() -> None:
    with serve_metrics(metrics_server(lambda: "up 1\n", 0)) as url:
        assert got(url) == (200, "text/plain; version=0.0.4; charset=utf-8", "up 1\n")
        assert got(url.replace("/metrics", "/other"))[0] == 404
    with pytest.raises(ConnectionRefusedError):
        got(url)


def test_a_port_that_is_taken_is_an_error_at_once() -> None:
    server = metrics_server(str, 0)
    with serve_metrics(server), pytest.raises(OSError, match="in use"):
        metrics_server(str, server.server_port)
