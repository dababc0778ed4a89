"""The page views that the engine is measured with are what its rows say they are."""

import json
from pathlib import Path

import pyarrow as pa

from bench.app_runs import page_views
from streamapp_runtime.key_partitioning import partition_of
from streamapp_runtime.systems.embedded.embedded_system import EmbeddedSystem
from streamapp_runtime.systems.topic_partition import TopicPartition

VIEWS = 1_000


def test_a_view_has_about_100_bytes_and_the_key_of_its_user() -> None:
    (records,) = page_views.views(VIEWS)
    for key, value in zip(
        records.column("key").to_pylist(), records.column("value").to_pylist(), strict=True
    ):
        assert json.loads(value)["user"].encode() == key
        assert 85 <= len(key) + len(value) <= 110


def test_what_is_counted_as_joined_are_the_views_that_are_no_health_checks() -> None:
    (records,) = page_views.views(VIEWS)
    pages = [json.loads(value)["page"] for value in records.column("value").to_pylist()]
    wanted = sum(not page.startswith("/health") for page in pages)
    assert 0 < wanted < VIEWS
    assert page_views.real(page_views.views(VIEWS)) == wanted


def test_log_and_files_hold_the_same_views(tmp_path: Path) -> None:
    log = EmbeddedSystem(tmp_path / "log")
    page_views.to_log(log, "views", page_views.views(VIEWS))
    found: list[bytes] = []
    for index in range(page_views.PARTITIONS):
        partition = TopicPartition("views", index)
        for batch in log.read(partition, 0, log.spans([partition])[partition].end):
            assert set(partition_of(batch.column("key"), page_views.PARTITIONS)) == {index}
            found += batch.column("value").to_pylist()
    log.close()
    page_views.to_files(tmp_path / "files", page_views.views(VIEWS), [VIEWS - 10, 10])
    first, second = sorted((tmp_path / "files").iterdir())
    assert len(second.read_bytes().splitlines()) == 10
    assert sorted(first.read_bytes().splitlines() + second.read_bytes().splitlines()) == sorted(found)


def test_a_user_is_as_large_as_is_asked_for() -> None:
    (records,) = page_views.users(3, padding=1_000)
    assert [len(json.loads(value)["about"]) for value in records.column("value").to_pylist()] == [1_000] * 3
    assert records.column("key").type == pa.binary()
