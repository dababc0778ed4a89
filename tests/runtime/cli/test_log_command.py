"""`streamapp log` on real folders: what went in comes out, and what is wrong is said in a line."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pytest
from click.testing import CliRunner, Result

from streamapp_runtime.cli.log import log
from streamapp_runtime.driver.modes.run_lock import lock_run
from streamapp_runtime.systems.embedded.embedded_system import EmbeddedSystem
from streamapp_runtime.systems.stream_system import RECORDS_WITH_HEADERS
from streamapp_runtime.systems.topic_partition import TopicPartition

ROOT = Path(__file__).parents[3]
# Whoever runs the tests in the background has them ignore interrupts, and children inherit that.
PROGRAM = """
import signal
from streamapp_runtime.cli.log import log
signal.signal(signal.SIGINT, signal.default_int_handler)
log(prog_name="log")
"""
RUNNING = [sys.executable, "-c", PROGRAM]


@pytest.fixture
def data(tmp_path: Path) -> str:
    return str(tmp_path / "data")


def run(*arguments: str, given: str | None = None, code: int = 0) -> Result:
    result = CliRunner().invoke(log, list(arguments), input=given)
    assert result.exit_code == code, result.output
    return result


def lines(*arguments: str) -> list[str]:
    return run("read", *arguments).stdout.splitlines()


def views(count: int) -> str:
    return "".join(f'{{"user":"u{number % 7}", "n": {number}}}\n' for number in range(count))


def test_lines_come_back_byte_for_byte_each_key_in_one_partition_in_order(data: str) -> None:
    given = views(100)
    run("write", data, "views", "--key", "user", "--partitions", "3", given=given)
    found = [json.loads(line) for line in lines(data, "views", "-o", "json")]
    assert Counter(row["value"] + "\n" for row in found) == Counter(given.splitlines(keepends=True))
    partitions: dict[str, set[int]] = {}
    numbers: dict[str, list[int]] = {}
    for row in found:
        partitions.setdefault(row["key"], set()).add(row["partition"])
        numbers.setdefault(row["key"], []).append(json.loads(row["value"])["n"])
    assert all(len(where) == 1 for where in partitions.values())
    assert all(order == sorted(order) for order in numbers.values())
    assert len({row["partition"] for row in found}) > 1


def test_times_keys_and_headers_stand_before_values_where_they_are_asked_for(data: str) -> None:
    with closing(EmbeddedSystem(Path(data))) as system:
        system.create("views", 1)
        headers = [[{"name": "trace", "value": b"00-1"}, {"name": "none", "value": None}], []]
        columns = [[b"ann", None], [b"one", b"two"], [1_700, None], headers]
        transaction = system.begin("tests", 1)
        transaction.append(TopicPartition("views", 0), pa.record_batch(columns, schema=RECORDS_WITH_HEADERS))
        transaction.commit()
    listed = [{"name": "trace", "value": "00-1"}, {"name": "none", "value": None}]
    assert lines(data, "views") == ["one", "two"]
    assert lines(data, "views", "--timestamps", "--keys", "--headers") == [
        f"1700\tann\t{json.dumps(listed)}\tone",
        "null\tnull\t[]\ttwo",
    ]
    found = [json.loads(line) for line in lines(data, "views", "-o", "json", "--headers")]
    assert [row["headers"] for row in found] == [listed, []]
    assert "headers" not in json.loads(lines(data, "views", "-o", "json")[0])


def test_a_line_may_say_what_its_record_has_beside_the_value(data: str) -> None:
    given = (
        '{"n": 1, "__key": "ann", "__timestamp": 1700, "__headers": {"trace": "00-1", "none": null}}\n'
        '{"n":  2, "__other": "as it is"}\n'
        '{"n": 3, "__headers": [{"name": "a", "value": "1"}, {"name": "a", "value": "2"}]}\n'
    )
    run("write", data, "views", given=given)
    found = [json.loads(line) for line in lines(data, "views", "-o", "json", "--headers")]
    assert [(row["key"], row["value"]) for row in found] == [
        ("ann", '{"n":1}'),
        (None, '{"n":  2, "__other": "as it is"}'),
        (None, '{"n":3}'),
    ]
    listed = [[(one["name"], one["value"]) for one in row["headers"]] for row in found]
    assert listed == [[("trace", "00-1"), ("none", None)], [], [("a", "1"), ("a", "2")]]
    assert found[0]["timestamp"] == 1_700 < found[1]["timestamp"]


def test_a_line_may_delete_the_value_of_its_key(data: str) -> None:
    given = (
        '{"__key": "ann", "__tombstone": true, "__timestamp": 1700}\n{"__key": "bob", "__tombstone": false}\n'
    )
    run("write", data, "users", given=given)
    run("write", data, "users", "--key", "user", given='{"user": "eve", "age": 7, "__tombstone": true}\n')
    found = [json.loads(line) for line in lines(data, "users", "-o", "json")]
    assert [(row["key"], row["value"]) for row in found] == [("ann", None), ("bob", "{}"), ("eve", None)]
    assert found[0]["timestamp"] == 1_700


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"__tombstone": 1}', "line 2: __tombstone has 1; allowed are true and false"),
        ('{"__tombstone": true}', "line 2: a tombstone has to have a key, whose value it deletes"),
        ('{"__timestamp": "now"}', "line 2: __timestamp has to be milliseconds since 1970 began"),
        ('{"__key": 7}', "line 2: __key has 7 where a text or null is expected"),
        ('{"__headers": ["a"]}', "line 2: __headers has to be texts by name, or a list of"),
        ('{"__headers": {"a": 1}}', "line 2: __headers has 1 where a text or null is expected"),
    ],
)
def test_a_line_that_says_something_wrong_of_its_record_is_named(data: str, line: str, message: str) -> None:
    assert message in run("write", data, "views", given=f"{{}}\n{line}\n", code=1).output


def test_records_without_a_key_go_round(data: str) -> None:
    run("write", data, "views", "--partitions", "4", given=views(100))
    run("write", data, "views", given=views(100))
    assert [len(lines(data, "views", "--partition", str(index))) for index in range(4)] == [50] * 4


def test_a_file_is_read_like_standard_input(data: str, tmp_path: Path) -> None:
    (tmp_path / "views.jsonl").write_text(views(5))
    result = run("write", data, "views", str(tmp_path / "views.jsonl"))
    assert "5 records written to views" in result.stderr
    assert lines(data, "views") == views(5).splitlines()


def test_rows_of_csv_become_objects(data: str) -> None:
    run("write", data, "users", "--format", "csv", "--key", "user", given="user,tier\nann,1\nbob,2\n")
    assert lines(data, "users", "--keys") == ['ann\t{"user":"ann","tier":1}', 'bob\t{"user":"bob","tier":2}']


def test_lines_of_text_are_values_and_blank_ones_too(data: str) -> None:
    run("write", data, "lines", "--format", "text", given="one\n\ntwo")
    assert lines(data, "lines", "--keys") == ["null\tone", "null\t", "null\ttwo"]


def test_reading_begins_and_ends_where_it_is_told_to(data: str) -> None:
    run("write", data, "lines", "--format", "text", given="a\nb\nc\nd\n")
    assert lines(data, "lines", "--from", "2") == ["c", "d"]
    assert lines(data, "lines", "--from", "latest") == []
    assert lines(data, "lines", "--limit", "3") == ["a", "b", "c"]
    assert lines(data, "lines", "--limit", "0") == []
    assert lines(data, "lines", "--from", "1", "--limit", "1") == ["b"]


def test_reading_begins_at_the_first_record_that_is_not_older_than_a_time(data: str) -> None:
    run("write", data, "lines", "--format", "text", "--partitions", "2", given="a\nb\n")
    first_ms = max(json.loads(line)["timestamp"] for line in lines(data, "lines", "-o", "json"))
    while time.time_ns() // 1_000_000 <= first_ms:  # the next write is of a later millisecond
        pass
    run("write", data, "lines", "--format", "text", given="c\nd\n")
    moment = datetime.fromtimestamp((first_ms + 1) / 1000, UTC)
    for text in (moment.isoformat(), moment.astimezone().replace(tzinfo=None).isoformat()):
        assert sorted(lines(data, "lines", "--from", text)) == ["c", "d"]
    assert sorted(lines(data, "lines", "--from", "-1h")) == ["a", "b", "c", "d"]
    assert lines(data, "lines", "--from", (moment + timedelta(hours=1)).isoformat()) == []
    assert lines(data, "lines", "--partition", "1", "--from", moment.isoformat()) == ["d"]


def test_streams_are_listed_with_what_they_hold(data: str) -> None:
    run("create", data, "users", "--partitions", "2", "--compacted")
    run("create", data, "visits", "--retention", "1h")
    run("write", data, "views", given=views(3))
    header, *rows = run("list", data).stdout.splitlines()
    assert header.split() == ["STREAM", "PARTITIONS", "RECORDS", "BYTES", "KEEPS"]
    assert [row.split()[:3] for row in rows] == [
        ["users", "2", "0"],
        ["views", "1", "3"],
        ["visits", "1", "0"],
    ]
    facts = json.loads(run("list", data, "-o", "json").stdout)
    assert facts["users"] == {
        "partitions": 2,
        "records": 0,
        "bytes": 0,
        "compacted": True,
        "retentionMs": None,
    }
    assert facts["visits"]["retentionMs"] == 3_600_000
    assert facts["views"]["records"] == 3


@pytest.mark.parametrize(
    ("arguments", "told", "code"),
    [
        (["read", "DATA", "vews"], 'no stream named "vews"; did you mean "views"?', 1),
        (["read", "DATA", "views", "--partition", "2"], "partitions 0 to 1", 2),
        (["read", "DATA", "views", "--from", "1"], "add --partition", 2),
        (["read", "DATA", "views", "--from", "first"], "write an offset, earliest, latest, a time", 2),
        (["read", "DATA", "views", "--from", "-soon"], "write an offset, earliest, latest, a time", 2),
        (
            ["read", "DATA", "views", "--partition", "0", "--from", "99"],
            "views#0 starts at 0 and ends at 2",
            1,
        ),
        (["read", "DATA", "views", "--keys", "-o", "json"], "leave --keys out", 2),
        (["read", "DATA", "views", "--timestamps", "-o", "json"], "leave --timestamps out", 2),
        (["read", "ELSEWHERE", "views"], "no log in", 1),
        (["list", "ELSEWHERE"], "no log in", 1),
        (["write", "DATA", "views", "--partitions", "3"], '"views" has 2 partitions', 2),
        (["write", "DATA", "views", "--format", "text", "--key", "user"], "no columns", 2),
        (
            ["create", "DATA", "views", "--partitions", "9"],
            "exists with 2 partitions (not compacted, records kept for ever)",
            1,
        ),
        (["delete", "DATA", "vews", "--yes"], 'no stream named "vews"; did you mean "views"?', 1),
        (["delete", "DATA", "views", "--before", "soon"], "write a time like", 2),
        (["delete", "ELSEWHERE", "views"], "no log in", 1),
        (["create", "DATA", "visits", "--retention", "soon"], "no duration", 2),
    ],
)
def test_what_is_wrong_is_said(data: str, arguments: list[str], told: str, code: int) -> None:
    run("write", data, "views", "--partitions", "2", given=views(4))
    placed = [{"DATA": data, "ELSEWHERE": data + "2"}.get(one, one) for one in arguments]
    result = run(*placed, code=code, given="")
    assert told in " ".join(result.stderr.split())


def test_a_line_that_is_not_json_is_named_and_what_came_before_its_block_stays(data: str) -> None:
    result = run("write", data, "views", "--key", "user", given='{"user":"a"}\nnope\n', code=1)
    assert "line 2 is not JSON" in result.stderr
    assert not Path(data).exists()


@pytest.mark.usefixtures("process")
def test_following_prints_what_comes_and_ends_quietly_when_interrupted(data: str) -> None:
    run("write", data, "lines", "--format", "text", given="one\n")
    command = [*RUNNING, "read", data, "lines", "--follow"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, cwd=ROOT, **pipes) as process:
        assert process.stdout.readline() == b"one\n"
        run("write", data, "lines", "--format", "text", given="two\n")
        assert process.stdout.readline() == b"two\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
    assert (out, err, process.returncode) == (b"", b"", 130)


@pytest.mark.usefixtures("process")
def test_a_reader_of_the_output_that_leaves_ends_it_quietly(data: str) -> None:
    run("write", data, "lines", "--format", "text", given="x" * 100 + "\n" + ("y" * 1_000 + "\n") * 5_000)
    reading, writing = os.pipe()
    command = [sys.executable, "-m", "streamapp", "log", "read", data, "lines"]
    with subprocess.Popen(command, cwd=ROOT, stdout=writing, stderr=subprocess.PIPE) as process:
        os.close(writing)
        os.read(reading, 10)
        os.close(reading)
        _, err = process.communicate()
    assert (err, process.returncode) == (b"", 128 + signal.SIGPIPE)


APP = """
apiVersion: streamapp.dev/v1alpha1
kind: StreamApp
metadata: {name: app}
spec:
  systems: [{name: main, embedded: {path: data}}]
  streams:
    - {name: views, system: main, topic: page-views, key: user, columns: "user STRING, n INT"}
    - {name: out, system: main}
  operators: [{name: sent, sendTo: {from: views, stream: out}}]
"""


def keys_of(data: str, stream: str) -> set[str]:
    return {json.loads(line)["key"] for line in lines(data, stream, "-o", "json")}


@pytest.mark.parametrize("form", ["json", "csv"])
def test_records_of_an_apps_stream_have_the_key_that_the_app_says(tmp_path: Path, form: str) -> None:
    file = tmp_path / "app.yaml"
    file.write_text(APP.replace("path: data", f"path: {tmp_path / 'data'}"))
    given = views(20) if form == "json" else "user,n\n" + "".join(f"u{n % 7},{n}\n" for n in range(20))
    run("write", str(file), "views", "--partitions", "3", "--format", form, given=given)
    assert keys_of(str(tmp_path / "data"), "page-views") == {f"u{number}" for number in range(7)}
    run("write", str(file), "views", "--key", "n", "--format", form, given=given)
    assert keys_of(str(tmp_path / "data"), "page-views") > {f"{number}" for number in range(20)}


@pytest.mark.parametrize(
    ("form", "given", "records", "rows"),
    [
        (
            "debezium",
            '{"op":"c","after":{"user":"u1","n":1}}\n{"op":"d","before":{"user":"u2"}}\n{"op":"t"}\n',
            ["u1", "u2", None],
            ['{"user":"u1","n":1}', "null", '{"op":"t"}'],
        ),
        (
            "csv",
            'u1,1\n"u,2",2\nu3\n',
            ["u1", "u,2", None],
            ['{"user":"u1","n":1}', '{"user":"u,2","n":2}', "u3"],
        ),
    ],
)
def test_lines_of_other_formats_have_the_keys_of_their_rows_and_are_read_as_rows(
    tmp_path: Path, form: str, given: str, records: list[str | None], rows: list[str]
) -> None:
    file = tmp_path / "app.yaml"
    text = APP.replace("path: data", f"path: {tmp_path / 'data'}").replace(
        "key: user,", f"key: user, format: {form},"
    )
    file.write_text(text)
    lines_as = "text" if form == "csv" else "json"
    run("write", str(file), "views", "--format", lines_as, given=given)
    found = [json.loads(line) for line in lines(str(tmp_path / "data"), "page-views", "-o", "json")]
    assert [row["key"] for row in found] == records
    assert [row["value"] for row in found] == given.splitlines()
    read = run("read", str(file), "views", "--rows", "--keys")
    assert read.stdout.splitlines() == [
        f"{key or 'null'}\t{row}" for key, row in zip(records, rows, strict=True)
    ]
    assert read.stderr.startswith("page-views#0 at offset 2: ")


def test_a_key_that_no_record_has_is_refused_and_nothing_is_made(data: str) -> None:
    result = run("write", data, "views", "--key", "usr", given=views(5), code=1)
    assert 'no record has a column "usr"; they have user, n' in result.stderr
    assert not Path(data).exists()
    nameless = '{"user": null, "n": 1}\n{"n": 2}\n'
    run("write", data, "views", "--key", "user", given=nameless)
    assert lines(data, "views", "--keys") == ['null\t{"user": null, "n": 1}', 'null\t{"n": 2}']
    run("write", data, "views", "--key", "user", given='{"__key": "u1", "__tombstone": true}\n')
    assert lines(data, "views", "--keys")[-1] == "u1\tnull"


def test_an_apps_stream_is_not_written_without_the_apps_key(tmp_path: Path) -> None:
    file = tmp_path / "app.yaml"
    file.write_text(APP.replace("path: data", f"path: {tmp_path / 'data'}"))
    result = run("write", str(file), "views", given='{"usr": "u1", "n": 1}\n', code=1)
    assert 'no record has a column "user"; they have usr, n' in result.stderr


@pytest.mark.parametrize("verb", ["write", "read", "create", "grow"])
def test_a_stream_that_the_app_does_not_have_is_refused_and_nothing_is_made(
    tmp_path: Path, verb: str
) -> None:
    file = tmp_path / "app.yaml"
    file.write_text(APP.replace("path: data", f"path: {tmp_path / 'data'}"))
    run("create", str(file), "views")
    more = ["8"] if verb == "grow" else []
    result = run(verb, str(file), "vews", *more, given=views(3), code=1)
    assert 'the app has no stream named "vews"; did you mean "views"?' in result.stderr
    listed = json.loads(run("list", str(tmp_path / "data"), "-o", "json").stdout)
    assert list(listed) == ["page-views"]


@pytest.mark.parametrize("verb", ["create", "write"])
def test_a_stream_that_the_app_does_not_have_leaves_no_folder_behind(tmp_path: Path, verb: str) -> None:
    file = tmp_path / "app.yaml"
    file.write_text(APP.replace("path: data", f"path: {tmp_path / 'data'}"))
    run(verb, str(file), "vews", given=views(3), code=1)
    assert list(tmp_path.iterdir()) == [file]


def test_rows_are_of_an_app_and_of_a_stream_with_columns(data: str, tmp_path: Path) -> None:
    file = tmp_path / "app.yaml"
    file.write_text(APP.replace("path: data", f"path: {data}"))
    run("write", data, "out", given="{}\n")
    assert "--rows goes with an app" in run("read", data, "out", "--rows", code=2).stderr
    assert 'the app says no columns of "out"' in run("read", str(file), "out", "--rows", code=1).stderr


def test_a_stream_that_was_deleted_is_gone_with_its_records_and_may_be_made_anew(data: str) -> None:
    run("write", data, "views", "--partitions", "2", given=views(50))
    run("write", data, "users", given=views(3))
    assert "50 records deleted from views" in run("delete", data, "views").stderr
    assert list(json.loads(run("list", data, "-o", "json").stdout)) == ["users"]
    run("create", data, "views", "--partitions", "3", "--compacted")
    assert lines(data, "views") == []
    assert lines(data, "users") == views(3).splitlines()


def test_records_before_a_time_are_deleted_and_offsets_go_on(data: str) -> None:
    run("write", data, "lines", "--format", "text", given="a\nb\n")
    last_ms = max(json.loads(line)["timestamp"] for line in lines(data, "lines", "-o", "json"))
    while time.time_ns() // 1_000_000 <= last_ms:  # the next write is of a later millisecond
        pass
    run("write", data, "lines", "--format", "text", given="c\n")
    moment = datetime.fromtimestamp((last_ms + 1) / 1000, UTC).isoformat()
    assert "0 records deleted" in run("delete", data, "lines", "--before", "-1d").stderr
    assert "2 records deleted from lines" in run("delete", data, "lines", "--before", moment).stderr
    (left,) = (json.loads(line) for line in lines(data, "lines", "-o", "json"))
    assert (left["value"], left["offset"]) == ("c", 2)


def test_nothing_is_deleted_while_an_app_runs(data: str) -> None:
    run("write", data, "views", given=views(5))
    lock = lock_run(Path(data, "state"), "shop.app", take_over=False)
    try:
        result = run("delete", data, "views", code=1)
        assert "shop.app runs on" in result.stderr
        assert len(lines(data, "views")) == 5
    finally:
        lock.release()
    run("delete", data, "views")


@pytest.mark.usefixtures("process")
def test_on_a_terminal_it_is_asked_before_a_stream_is_deleted(data: str) -> None:
    run("write", data, "views", given=views(5))
    for answer, code, left in ((b"n\n", 1, ["views"]), (b"y\n", 0, [])):
        leader, terminal = os.openpty()
        os.write(leader, answer)
        command = [*RUNNING, "delete", data, "views"]
        done = subprocess.run(command, cwd=ROOT, stdin=terminal, capture_output=True, check=False)
        os.close(leader)
        os.close(terminal)
        assert b"delete views with 5 records?" in done.stderr
        assert done.returncode == code
        assert list(json.loads(run("list", data, "-o", "json").stdout)) == left
