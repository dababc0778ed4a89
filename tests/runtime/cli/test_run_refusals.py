"""How a run that never comes to run tells why."""

import json
import os
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from streamapp.author.names import checkpoint_stream
from streamapp.cli.main import root
from streamapp.spec.parser import parse
from streamapp.spec.resource.app import StreamApp
from streamapp_runtime.checkpoint import StateUnreadableError
from streamapp_runtime.checkpoint_entries import INCARNATION, LAYOUT, START_POSITIONS
from streamapp_runtime.driver.app_refusal import AppRefusedError
from streamapp_runtime.driver.start.app_storage import connection_of
from streamapp_runtime.systems.connection import open_system
from streamapp_runtime.systems.stream_system import StreamOptions
from streamapp_runtime.testing.in_process_app import InProcessApp
from tests.harness.runs.in_process_run import InProcessRun
from tests.harness.runs.run_process import COMMAND, EXAMPLE, Running

BROKEN = EXAMPLE.read_text().replace("table: users,", "table: user,")
COPIES = """
apiVersion: streamapp.dev/v1alpha1
kind: StreamApp
metadata: {name: copies}
spec:
  systems: [{name: main, embedded: {path: data}}]
  streams: [{name: views, system: main, columns: "user STRING"}, {name: copied, system: main}]
  broadcastInputs: [views]
  operators: [{name: out, sendTo: {from: views, stream: copied}}]
"""


def ran(*arguments: str | Path, java: str | None = None) -> subprocess.CompletedProcess[str]:
    env = dict(os.environ) | ({"JAVA_HOME": java} if java else {})
    return subprocess.run([COMMAND, "run", *arguments], capture_output=True, text=True, env=env, check=False)


def invoked(*words: str | Path) -> Result:
    """A command that ends before it starts anything, in the test's own process."""
    return CliRunner().invoke(root, list(map(str, words)))


def test_a_resource_that_is_wrong_is_refused_with_the_path(tmp_path: Path) -> None:
    file = tmp_path / "app.yaml"
    file.write_text(BROKEN)
    done = invoked("run", file, "--data", tmp_path / "data")
    assert done.exit_code == 1
    assert "spec.operators[2].joinTable.table" in done.stderr


def with_entry(folder: Path, key: bytes, value: bytes) -> StreamApp:
    """The example, and state of it in which one entry is this value."""
    (app,) = parse(EXAMPLE.read_text()).apps
    stream = checkpoint_stream(app.application_id)
    with closing(open_system(connection_of(app.spec.systems[0], 0, folder, None))) as system:
        for stream_name in ("page-views", "users", "totals"):
            system.create(stream_name, 2)
        system.create(stream, 1, StreamOptions(compacted=True))
        transaction = system.begin(stream, 1)
        transaction.put(stream, key, value)
        transaction.commit()
    return app


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        (b"Partition 0", b"torn", ["task Partition 0", "cannot be read", "resetNonce"]),
        (b"Partition 0", b'{"format": 2}', ["task Partition 0", "format 2", "the version of streamapp"]),
        (LAYOUT.key, b"torn", ["layout", "resetNonce"]),
        (INCARNATION.key, b'{"run": "torn', ["the incarnation", "resetNonce"]),
        (START_POSITIONS.key, b'{"format": 2}', ["format 2", "the version of streamapp"]),
    ],
)
def test_state_that_cannot_be_read_ends_a_start_with_one_sentence(
    tmp_path: Path, key: bytes, value: bytes, words: list[str]
) -> None:
    app = with_entry(tmp_path, key, value)
    run = InProcessRun(app, tmp_path)
    with closing(run.system), pytest.raises(StateUnreadableError) as unreadable:
        run.start()
    stream = checkpoint_stream(app.application_id)
    assert all(word in str(unreadable.value) for word in [*words, stream, "partition 0"])


@pytest.mark.usefixtures("process")
def test_a_run_says_so_in_one_line(tmp_path: Path) -> None:
    stream = checkpoint_stream(with_entry(tmp_path, LAYOUT.key, b"torn").application_id)
    done = ran(EXAMPLE, "--data", tmp_path)
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr
    (line,) = [line for line in done.stderr.splitlines() if stream in line]
    assert "resetNonce" in line


def test_an_app_whose_inputs_all_go_to_every_task_ends_with_the_field() -> None:
    with pytest.raises(AppRefusedError) as refusal:
        InProcessApp(COPIES, partitions=2)
    (problem,) = refusal.value.problems
    assert f"{problem.path}: {problem.message}".startswith(
        "spec.broadcastInputs: all inputs (views) go to every task"
    )


@pytest.mark.parametrize(
    "content", [b"", bytes(100_000), b"no log" * 10_000], ids=["empty", "zeroes", "foreign"]
)
def test_a_log_that_is_none_ends_with_one_sentence_and_is_left_alone(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "data.mdb").write_bytes(content)
    done = invoked("log", "list", tmp_path)
    assert (done.exit_code, "Traceback" in done.stderr) == (1, False), done.stderr
    assert "restore it from a copy" in done.stderr.splitlines()[-1]
    assert (tmp_path / "data.mdb").read_bytes() == content


@pytest.mark.usefixtures("process")
def test_a_run_on_a_log_that_is_none_ends_with_that_sentence(tmp_path: Path) -> None:
    (tmp_path / "data.mdb").write_bytes(bytes(100_000))
    done = ran(EXAMPLE, "--data", tmp_path)
    assert (done.returncode, "Traceback" in done.stderr) == (1, False), done.stderr
    assert "restore it from a copy" in done.stderr.splitlines()[-1]
    assert (tmp_path / "data.mdb").read_bytes() == bytes(100_000)


def test_a_machine_is_told_the_outcome_last(tmp_path: Path) -> None:
    file = tmp_path / "app.yaml"
    file.write_text(BROKEN)
    done = invoked("run", file, "--data", tmp_path / "data", "--log-format", "json")
    problem, outcome = map(json.loads, done.stderr.splitlines())
    assert problem["path"] == outcome["path"] == "spec.operators[2].joinTable.table"
    assert (outcome["outcome"], outcome["reason"]) == ("config", "InvalidSpec")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A log with the streams of the example."""
    for stream in ("page-views", "users", "totals"):
        assert invoked("log", "create", tmp_path / "data", stream, "--partitions", "2").exit_code == 0
    return tmp_path / "data"


@pytest.mark.usefixtures("process")
def test_without_java_one_line_names_the_java_that_is_needed(tmp_path: Path, data: Path) -> None:
    done = ran(EXAMPLE, "--data", data, java=str(tmp_path))
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert "Spark needs Java 17 or newer" in line
    assert str(tmp_path) in line


@pytest.mark.usefixtures("process")
def test_a_java_that_fails_is_told_with_its_last_words_and_may_be_tried_again(
    tmp_path: Path, data: Path
) -> None:
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    version = """[ "$1" = -version ] && { echo 'openjdk version "21.0.1"' >&2; exit; }"""
    java.write_text(f"#!/bin/sh\n{version}\necho no room >&2; exit 1\n")
    java.chmod(0o755)
    done = ran(EXAMPLE, "--data", data, java=str(tmp_path))
    assert done.returncode == 3
    assert "Spark's JVM ended at its start: no room" in done.stderr


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--until-end", "--for", "3s"], "leave one out"),
        (["--for", "soon"], "--for"),
        (["--metrics-port", "99999"], "--metrics-port"),
    ],
)
def test_a_wrong_use_ends_with_2(tmp_path: Path, options: list[str], told: str) -> None:
    done = invoked("run", EXAMPLE, "--data", tmp_path / "data", *options)
    assert done.exit_code == 2
    assert told in done.stderr
    assert not (tmp_path / "data").exists()


@pytest.mark.usefixtures("process")
def test_streams_that_are_not_there_are_refused_before_spark_starts_and_nothing_is_made(
    tmp_path: Path,
) -> None:
    done = ran(EXAMPLE, "--data", tmp_path / "typo", java="/nowhere")
    assert done.returncode == 1
    assert 'streams "views", "users" do not exist in the embedded log; write the first rows' in done.stderr
    assert not (tmp_path / "typo").exists()


@pytest.mark.usefixtures("process")
def test_columns_and_expressions_are_refused_before_spark_starts_and_nothing_is_made(tmp_path: Path) -> None:
    file = tmp_path / "app.yaml"
    file.write_text(Path(EXAMPLE).read_text().replace("NOT LIKE", "NOT LIKE uper(pgae) AND pgae LIKE"))
    done = ran(file, "--data", tmp_path / "data", java="/nowhere")
    assert done.returncode == 1
    assert 'filter.where: no column "pgae"; did you mean "page"?' in done.stderr
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("verb", [["list"], ["gc"]])
@pytest.mark.parametrize("source", ["folder", "app"])
def test_a_folder_without_state_is_an_error_however_it_is_named(
    tmp_path: Path, verb: list[str], source: str
) -> None:
    folder = tmp_path / "data"
    if source == "app":
        file = tmp_path / "app.yaml"
        file.write_text(COPIES.replace("path: data", f"path: {folder}"))
    done = invoked("state", *verb, folder if source == "folder" else file)
    assert (done.exit_code, done.stderr) == (1, f"Error: no state in {folder}: no app has run there\n")


INTERRUPTIBLE = """
import signal
from streamapp.cli.main import main
signal.signal(signal.SIGINT, signal.default_int_handler)
main()
"""
# Whoever runs the tests in the background has them ignore interrupts, and children inherit that.


@pytest.mark.usefixtures("process")
@pytest.mark.parametrize("verb", ["run", "check", "plan"])
def test_an_interrupt_while_the_app_is_read_ends_in_one_line(tmp_path: Path, verb: str) -> None:
    program = tmp_path / "app.py"
    program.write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n")
    command = [sys.executable, "-c", INTERRUPTIBLE, verb, program]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")


@pytest.mark.usefixtures("process")
def test_an_interrupt_while_spark_starts_ends_in_one_line(tmp_path: Path, data: Path) -> None:
    started = tmp_path / "started"
    os.mkfifo(started)
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text(f"#!/bin/sh\necho > {started}\nexec cat > /dev/null\n")
    java.chmod(0o755)
    command = [COMMAND, "run", EXAMPLE, "--data", data]
    env = dict(os.environ) | {"JAVA_HOME": str(tmp_path)}
    with subprocess.Popen(command, env=env, stderr=subprocess.PIPE, text=True) as process:
        assert started.read_text() == "\n"
        process.send_signal(signal.SIGINT)
        _, err = process.communicate()
    assert (process.returncode, err) == (130, "interrupted: nothing has run\n")


@pytest.mark.usefixtures("process")
def test_a_full_disk_behind_the_output_is_one_sentence(tmp_path: Path) -> None:
    with Path("/dev/full").open("w") as full:
        command = [COMMAND, "render", EXAMPLE]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (
        3,
        "Error: the disk is full: not all of the output was written\n",
    )


@pytest.mark.usefixtures("process")
def test_a_second_run_is_refused_until_it_is_to_take_the_place_of_the_first(data: Path) -> None:
    first = Running.start(data)
    first.until(lambda said: said.get("event") == "started")
    refused = Running.start(data)
    assert refused.end() == 3
    assert "runs already on" in refused.said[-1]["message"]
    assert "--take-over" in refused.said[-1]["message"]
    second = Running.start(data, "--take-over", "--until-end")
    assert (first.end(), first.said[-1]["outcome"]) == (3, "retry")
    assert "taken its place" in first.said[-1]["message"]
    assert second.end() == 0, second.said


@pytest.mark.usefixtures("process")
def test_code_that_is_not_there_is_refused_before_java_and_makes_nothing(
    tmp_path: Path,
) -> None:
    file = tmp_path / "app.yaml"
    file.write_text(
        COPIES.replace("  broadcastInputs: [views]\n", "").replace(
            "[{name: out, sendTo: {from: views, stream: copied}}]",
            "[{name: one, map: {from: views, python: 'shop.views:clean', columns: user STRING}},"
            " {name: two, map: {from: one, python: 'app_code:clen', columns: user STRING}},"
            " {name: out, sendTo: {from: two, stream: copied}}]",
        )
    )
    (tmp_path / "app_code.py").write_text("def clean(batch):\n    return batch\n")
    done = ran(file, "--data", tmp_path / "data", java="/nowhere")
    assert done.returncode == 1
    first, second = (line for line in done.stderr.splitlines() if "cannot be loaded" in line)
    assert "spec.operators[0].map.python: shop.views:clean cannot be loaded: ModuleNotFound" in first
    assert "spec.operators[1].map.python: app_code:clen " in second
    assert "has no attribute 'clen'" in second
    assert not (tmp_path / "data").exists()
