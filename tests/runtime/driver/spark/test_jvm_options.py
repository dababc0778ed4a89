"""Which collector a JVM of Spark's is given: the one for small heaps, unless somebody has chosen another."""

import subprocess
from collections.abc import Mapping

import pytest

from streamapp_runtime.driver.spark.jvm_options import COMMON_OPTIONS, SMALL_HEAP_OPTIONS, jvm_options
from streamapp_runtime.installed_java import find_java

SMALL = f"{COMMON_OPTIONS} {SMALL_HEAP_OPTIONS}"


@pytest.fixture(autouse=True)
def no_java_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("settings", "options"),
    [
        ({}, SMALL),
        ({"spark.driver.memory": "600m"}, SMALL),
        ({"spark.driver.memory": "2047M"}, SMALL),
        ({"spark.driver.memory": "1gb"}, SMALL),
        ({"spark.driver.memory": "2g"}, COMMON_OPTIONS),
        ({"spark.driver.memory": "64g"}, COMMON_OPTIONS),
        ({"spark.driver.memory": "1073741824"}, COMMON_OPTIONS),  # a form that is left to Spark
        ({"spark.driver.extraJavaOptions": "-Dx=y -XX:+UseG1GC"}, COMMON_OPTIONS),
        ({"spark.driver.defaultJavaOptions": "-XX:+UseZGC"}, COMMON_OPTIONS),
        ({"spark.driver.extraJavaOptions": "-XX:MaxGCPauseMillis=50"}, SMALL),
        ({"spark.executor.memory": "8g", "spark.executor.extraJavaOptions": "-XX:+UseParallelGC"}, SMALL),
    ],
)
def test_a_small_heap_has_the_serial_collector_unless_another_is_named(
    settings: Mapping[str, str], options: str
) -> None:
    assert jvm_options(settings, "driver") == options


@pytest.mark.parametrize("name", ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"])
def test_a_collector_of_the_environment_is_the_only_one(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "-XX:+UseParallelGC")
    assert jvm_options({}, "executor") == COMMON_OPTIONS


@pytest.mark.usefixtures("process")
def test_java_takes_the_options_and_refuses_two_collectors() -> None:
    java = find_java()
    assert java is not None
    taken = subprocess.run([java, *SMALL.split(), "-version"], check=False, capture_output=True)
    assert taken.returncode == 0, taken.stderr
    twice = [java, *SMALL.split(), "-XX:+UseParallelGC", "-version"]
    refused = subprocess.run(twice, check=False, capture_output=True)
    assert refused.returncode != 0
    assert b"collector" in refused.stdout + refused.stderr
