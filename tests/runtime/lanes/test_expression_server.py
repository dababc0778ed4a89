"""The expression server as lanes reach it: who may, what is refused, and what a lost connection costs."""

import socket
import stat
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from streamapp_runtime.expressions.expression_client import (
    ExpressionClient,
    ExpressionServerError,
    SparkExpressions,
)
from tests.harness.engine.compiled_apps import expression_folder
from tests.harness.machine.processes import until

ADDRESS = "streamapp-expressions"
HALVES = SparkExpressions("n INT", (0,), "n <> 3", ("n / 2", "regexp_replace(CAST(n AS STRING), '1', 'one')"))
NUMBERS = pa.array([1, 2, 3, None], pa.int32())


@pytest.fixture
def folder(spark: SparkSession) -> Path:
    return expression_folder(spark.sparkContext)


@pytest.fixture
def client(folder: Path) -> Iterator[ExpressionClient]:
    client = ExpressionClient(lambda: folder)
    yield client
    client.close()


def halves(client: ExpressionClient) -> list[tuple[Any, ...]]:
    evaluated = client.evaluate(HALVES, [NUMBERS], len(NUMBERS))
    assert not evaluated.failures
    return list(zip(evaluated.is_kept.to_pylist(), *(v.to_pylist() for v in evaluated.values), strict=True))


EXPECTED = [(True, 0.5, "one"), (True, 1.0, "2"), (False, None, None), (False, None, None)]


def test_only_the_owner_reaches_the_socket_and_reads_the_secret(folder: Path) -> None:
    file = folder / ADDRESS
    path, _ = file.read_text("utf-8").split()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(Path(path).parent.stat().st_mode) == 0o700


def test_who_does_not_know_the_secret_is_sent_away(folder: Path, tmp_path: Path) -> None:
    path, secret = (folder / ADDRESS).read_text("utf-8").split()
    (tmp_path / ADDRESS).write_text(f"{path}\n{'0' * len(secret)}\n", "utf-8")
    with pytest.raises(ExpressionServerError, match="Spark cannot be asked for expressions"):
        halves(ExpressionClient(lambda: tmp_path))


def test_a_lost_connection_is_made_again_with_its_programs(client: ExpressionClient) -> None:
    assert halves(client) == EXPECTED
    assert client._socket is not None
    client._socket.close()
    assert halves(client) == EXPECTED


def leave_while_asking(folder: Path) -> None:
    """Ask for much, and end the connection before the reply."""
    leaving, many = ExpressionClient(lambda: folder), pa.array(range(2_000_000), pa.int32())
    request = SparkExpressions("n INT", (0,), None, ("n", "n", "n"))
    with pytest.raises(ExpressionServerError), ThreadPoolExecutor(1) as thread:
        asking = thread.submit(leaving.evaluate, request, [many], len(many))
        until(lambda: leaving._socket is not None, limit=10)
        assert leaving._socket is not None
        leaving._folder = lambda: folder / "none"  # so that it is not asked again
        leaving._socket.shutdown(socket.SHUT_RDWR)
        asking.result()


def test_a_worker_that_ends_before_its_reply_ends_no_jvm(folder: Path, client: ExpressionClient) -> None:
    for _ in range(3):
        leave_while_asking(folder)
    assert halves(client) == EXPECTED


def test_what_is_no_request_is_refused_and_the_connection_goes_on(client: ExpressionClient) -> None:
    assert halves(client) == EXPECTED
    for kind, number, body in ((7, 0, b"?"), (2, 99, b"?"), (2, 0, b"no Arrow message"), (1, 0, b"no JSON")):
        with pytest.raises(ExpressionServerError, match="Spark"):
            client._ask(kind, number, body)
    assert halves(client) == EXPECTED


def test_a_jvm_without_a_server_is_an_error_with_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(ExpressionServerError, match=r"Spark cannot be asked for expressions: .*No such file"):
        halves(ExpressionClient(lambda: tmp_path))


@pytest.mark.parametrize(
    ("text", "words"),
    [("n +", "Syntax error"), ("m + 1", "cannot be resolved"), ("sum(n)", "Aggregate")],
)
def test_what_spark_refuses_is_refused_in_its_words_and_the_connection_goes_on(
    client: ExpressionClient, text: str, words: str
) -> None:
    with pytest.raises(ExpressionServerError, match=words):
        client.evaluate(SparkExpressions("n INT", (0,), None, (text,)), [NUMBERS], len(NUMBERS))
    assert halves(client) == EXPECTED


def test_a_batch_without_columns_has_its_rows(client: ExpressionClient) -> None:
    evaluated = client.evaluate(SparkExpressions("", (), None, ("1 + 1",)), [], 3)
    assert evaluated.values[0].to_pylist() == [2, 2, 2]


def test_a_condition_that_is_never_true_keeps_no_row(client: ExpressionClient) -> None:
    evaluated = client.evaluate(SparkExpressions("n INT", (0,), "false", ("n",)), [NUMBERS], len(NUMBERS))
    assert evaluated.is_kept.true_count == 0


def test_lanes_are_served_side_by_side(folder: Path) -> None:
    def lane(_: int) -> list[tuple[Any, ...]]:
        client = ExpressionClient(lambda: folder)
        results = [halves(client) for _ in range(20)]
        client.close()
        assert all(result == results[0] for result in results)
        return results[0]

    with ThreadPoolExecutor(4) as lanes:
        assert list(lanes.map(lane, range(4))) == [EXPECTED] * 4


def test_programs_that_are_prepared_are_those_that_rows_come_to(folder: Path) -> None:
    client = ExpressionClient(lambda: folder)
    good, bad = (SparkExpressions("n BIGINT", (0,), None, (text,)) for text in ("n + 1", "nothing_such(n)"))
    client.prepare([bad, good])
    assert client.evaluate(good, [pa.array([1])], 1).values[0].to_pylist() == [2]
    with pytest.raises(ExpressionServerError, match="nothing_such"):
        client.evaluate(bad, [pa.array([1])], 1)
    client.close()


def test_programs_end_with_the_connection(spark: SparkSession, folder: Path) -> None:
    jvm: Any = spark.sparkContext._jvm
    allocator = jvm.org.apache.spark.sql.util.ArrowUtils.rootAllocator()
    before = allocator.getAllocatedMemory()
    client = ExpressionClient(lambda: folder)
    assert halves(client) == EXPECTED
    assert allocator.getAllocatedMemory() > before
    client.close()
    until(lambda: allocator.getAllocatedMemory() == before, limit=10)
