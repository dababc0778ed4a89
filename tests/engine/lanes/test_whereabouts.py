"""A lane tells one executor from another, also from the one that takes its place."""

import pytest

from streamapp_runtime.lanes.whereabouts import this_seat


@pytest.mark.parametrize("variable", ["SPARK_EXECUTOR_DIRS", "SPARK_EXECUTOR_ID", "SPARK_EXECUTOR_POD_IP"])
def test_another_executor_is_another_seat(monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    monkeypatch.setenv(variable, "first")
    before = this_seat()
    assert this_seat() == before
    monkeypatch.setenv(variable, "second")
    assert this_seat() != before


def test_a_pod_that_comes_again_under_its_name_and_number_is_another_seat(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SPARK_EXECUTOR_ID", "EXECID")  # in pods of a StatefulSet, which all have one template
    monkeypatch.setenv("SPARK_EXECUTOR_POD_IP", "10.0.0.1")
    before = this_seat()
    monkeypatch.setenv("SPARK_EXECUTOR_POD_IP", "10.0.0.2")
    assert this_seat() != before
