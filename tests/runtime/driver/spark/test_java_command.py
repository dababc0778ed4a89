"""The command of a driver's JVM, beside the one that Spark's launcher makes."""

import os
import subprocess
from pathlib import Path

import pyspark
import pytest

from streamapp_runtime.driver.spark.java_command import driver_command, spark_jars
from streamapp_runtime.installed_java import find_java

SPARK = Path(pyspark.__file__).parent
JARS = spark_jars(SPARK / "jars")
SETTINGS = {
    "spark.master": "local[1]",
    "spark.driver.memory": "700m",
    "spark.driver.defaultJavaOptions": "-Done=1 -Dtwo='a b'",
}


def _environment(folder: Path) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "SPARK_HOME": str(SPARK), "SPARK_CONF_DIR": str(folder)}


def _launched(environment: dict[str, str]) -> list[str]:
    """What Spark's launcher makes of the same settings."""
    confs = [part for key, value in SETTINGS.items() for part in ("--conf", f"{key}={value}")]
    launcher = [
        "-cp",
        f"{SPARK}/jars/*",
        "org.apache.spark.launcher.Main",
        "org.apache.spark.deploy.SparkSubmit",
    ]
    ran = subprocess.run(
        [_java(), *launcher, *confs, "pyspark-shell"],
        env={**environment, "SPARK_SCALA_VERSION": "2.13", "_PYSPARK_DRIVER_CONN_INFO_PATH": "there"},
        capture_output=True,
        text=True,
        check=True,
    )
    return [part for part in ran.stdout.split("\0") if part.strip()]


def _java() -> str:
    java = find_java()
    assert java is not None
    return java


def _without_class_path(command: list[str]) -> list[str]:
    """All but the Java and the class path, which has another order."""
    assert command[1] == "-cp"
    return command[3:]


@pytest.mark.usefixtures("process")
def test_spark_begins_as_its_launcher_would_have_it(tmp_path: Path) -> None:
    defaults = "# ours\nspark.driver.extraJavaOptions  -Dthree=3\nspark.eventLog.enabled=false\n"
    (tmp_path / "spark-defaults.conf").write_text(defaults)
    environment = _environment(tmp_path)
    command = driver_command(_java(), JARS, SETTINGS, environment)
    assert command is not None
    assert _without_class_path(command) == _without_class_path(_launched(environment))


def test_all_jars_of_spark_come_before_any_folder(tmp_path: Path) -> None:
    command = driver_command(_java(), JARS, SETTINGS, _environment(tmp_path))
    assert command is not None
    *jars, folder = command[2].split(os.pathsep)
    assert folder == str(tmp_path)
    assert {Path(jar).name for jar in jars} == {jar.name for jar in (SPARK / "jars").glob("*.jar")}
    assert all(jar.endswith(".jar") for jar in jars)


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("spark-env.sh", "export SPARK_DRIVER_MEMORY=2g"),
        ("spark-defaults.conf", "spark.driver.extraClassPath /opt/more.jar"),
        ("spark-defaults.conf", "spark.driver.extraJavaOptions -Da=1 \\\n -Db=2"),
    ],
)
def test_what_only_the_launcher_understands_is_left_to_it(file: str, text: str, tmp_path: Path) -> None:
    (tmp_path / file).write_text(text)
    assert driver_command(_java(), JARS, SETTINGS, _environment(tmp_path)) is None


def test_a_variable_of_the_launcher_is_left_to_it(tmp_path: Path) -> None:
    environment = {**_environment(tmp_path), "SPARK_SUBMIT_OPTS": "-Dfour=4"}
    assert driver_command(_java(), JARS, SETTINGS, environment) is None
