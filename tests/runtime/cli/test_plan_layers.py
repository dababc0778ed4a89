"""`streamapp plan --layers`: what the driver would compile, and Spark only where it is needed."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

STREAMAPP = Path(sys.executable).with_name("streamapp")
APP = """
apiVersion: streamapp.dev/v1alpha1
kind: StreamApp
metadata: {{name: a}}
spec:
  systems: [{{name: main, kafka: {{bootstrapServers: "k:9092"}}}}]
  streams:
  - {{name: views, system: main, columns: "user STRING, page STRING, n INT"}}
  - {{name: out, system: main}}
  operators:
  - {{name: shown, map: {{from: views, select: "{select}"}}}}
  - {{name: big, filter: {{from: shown, where: "n > 2"}}}}
  - {{name: send, sendTo: {{from: big, stream: out}}}}
"""
PLAIN = "user, n + 1 AS n"
SPARKS = "initcap(page) AS page, n"


def planned(folder: Path, select: str, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    file = folder / "app.yaml"
    file.write_text(APP.format(select=select))
    command = [STREAMAPP, "plan", file, "--set", "views=2", "--layers", *words]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, **variables}, timeout=240
    )


@pytest.mark.usefixtures("process")
def test_an_app_of_one_python_layer_needs_no_java_to_say_so(tmp_path: Path) -> None:
    done = planned(tmp_path, PLAIN, JAVA_HOME=str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith(
        "\nOne Python layer: lanes stay from batch to batch, and no batch is a Spark job.\n"
    )


@pytest.mark.usefixtures("process")
def test_what_spark_computes_is_named_by_field_and_text(tmp_path: Path) -> None:
    done = planned(tmp_path, SPARKS, "-o", "json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["outcome"] == "accepted"
    assert document["layers"] == ["python", "spark", "python"]
    assert document["sparkComputes"][0] == f"spec.operators[0].map.select: {SPARKS}"


@pytest.mark.usefixtures("process")
def test_where_spark_has_to_judge_and_there_is_no_java_that_is_said(tmp_path: Path) -> None:
    done = planned(tmp_path, SPARKS, JAVA_HOME=str(tmp_path))
    assert done.returncode == 1
    assert "Spark has to judge" in done.stderr
    assert "there is no java" in done.stderr


@pytest.mark.usefixtures("process")
def test_an_expression_that_is_wrong_is_refused_with_its_line(tmp_path: Path) -> None:
    done = planned(tmp_path, "uper(page) AS page, n")
    assert done.returncode == 1
    assert "spec.operators[0].map.select, line 11" in done.stdout
    assert 'no function "uper"' in done.stdout


@pytest.mark.usefixtures("process")
@pytest.mark.parametrize("form", ["svg", "html", "dot"])
def test_a_picture_has_no_layers(tmp_path: Path, form: str) -> None:
    done = planned(tmp_path, PLAIN, "-o", form)
    assert done.returncode == 2
    assert "--layers goes with -o text and -o json" in done.stderr
