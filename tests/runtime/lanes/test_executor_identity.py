"""A lane tells one executor from another, also from the one that takes its place."""

import pytest

from streamapp_runtime.lanes.protocol.executor_identity import executor_identity


@pytest.mark.parametrize("variable", ["SPARK_EXECUTOR_DIRS", "SPARK_EXECUTOR_ID", "SPARK_EXECUTOR_POD_IP"])
def test_another_executor_is_another_seat(monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    monkeypatch.setenv(variable, "first")
    before = executor_identity()
    assert executor_identity() == before
    monkeypatch.setenv(variable, "second")
    assert executor_identity() != before


def test_a_pod_that_comes_again_under_its_name_and_number_is_another_seat(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SPARK_EXECUTOR_ID", "EXECID")  # in pods of a StatefulSet, which all have one template
    monkeypatch.setenv("SPARK_EXECUTOR_POD_IP", "10.0.0.1")
    before = executor_identity()
    monkeypatch.setenv("SPARK_EXECUTOR_POD_IP", "10.0.0.2")
    assert executor_identity() != before
