"""`streamapp dev` as a developer has it: files are edited while it runs."""

import os
import select
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from streamapp.cli.main import root
from tests.harness.runs.dev_process import COMMAND, READY, DevProcess, dev_process

pytestmark = pytest.mark.usefixtures("process")

GENEROUS_SECONDS = 20.0
"""A save is followed by rows in a quarter of a second; this bound holds on a machine with much else to do."""


def invoked(folder: Path, *words: str) -> Result:
    """Another verb, in the test's own process."""
    with chdir(folder):
        return CliRunner().invoke(root, words)


def new_app(folder: Path, template: str, *options: str) -> Path:
    assert invoked(folder, "init", "shop", "--template", template, *options).exit_code == 0
    return folder / "shop"


@pytest.fixture
def join(tmp_path: Path) -> Path:
    return new_app(tmp_path, "join")


@pytest.fixture
def payments(tmp_path: Path) -> Path:
    return new_app(tmp_path, "own-python", "--python")


Watched = tuple[Path, DevProcess]


@pytest.fixture(scope="module")
def watched_join(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    """An app that is watched while many tests edit its files: each leaves them as they were."""
    folder = new_app(tmp_path_factory.mktemp("join"), "join")
    with dev_process(folder, "app.yaml", "--show", "by-user", "--show", "enriched") as dev:
        assert len(rows_of(dev.until(), "by-user")) == 4
        yield folder, dev


@pytest.fixture(scope="module")
def watched_payments(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    """The same with code of its own."""
    folder = new_app(tmp_path_factory.mktemp("payments"), "own-python", "--python")
    with dev_process(folder, "app.py") as dev:
        assert rows_of(dev.until(), "alerts") == ['{"card": "7001", "total": 1150}']
        yield folder, dev


def edit(file: Path, before: str, after: str) -> None:
    text = file.read_text("utf-8")
    assert before in text
    file.write_text(text.replace(before, after), "utf-8")


def rows_of(printed: str, stream: str) -> list[str]:
    lines = printed.splitlines()
    return [line.removeprefix(stream).strip() for line in lines if line.startswith(f"{stream} ")]


@pytest.mark.smoke
def test_a_save_is_followed_by_the_rows_of_the_new_version(join: Path) -> None:
    with dev_process(join, "app.yaml") as dev:
        first = dev.until()
        assert rows_of(first, "enriched")[0] == '{"user": "ann", "page": "/", "country": "NO"}'
        assert "records: views 4, users 2, enriched 3; tables: users 2; late 0, left out 0" in first
        begun = time.monotonic()
        edit(join / "app.yaml", '"user, page, country"', '"user, country AS land"')
        printed = dev.until()
        assert "app.yaml: changed: app.yaml\n" in printed
        assert rows_of(printed, "enriched")[0] == '{"user": "ann", "land": "NO"}'
        assert "tables: users 2" in printed
        assert "s after the save" in printed
        assert time.monotonic() - begun < GENEROUS_SECONDS


def test_a_broken_save_shows_what_check_prints_and_its_fix_runs_again(watched_join: Watched) -> None:
    join, dev = watched_join
    edit(join / "app.yaml", "table: users,", "table: user,")
    printed = dev.until()
    check = invoked(join, "check", "app.yaml")
    assert check.exit_code == 1
    assert check.stderr in printed
    assert 'no table named "user"; did you mean "users"?' in check.stderr
    edit(join / "app.yaml", "table: user,", "table: users,")
    assert len(rows_of(dev.until(), "enriched")) == 3


def test_a_catalog_is_watched_and_a_rejected_plan_is_shown_as_plan_prints_it(join: Path) -> None:
    edit(join / "app.yaml", "key: user}}", "key: user, partitions: 8}}")
    with dev_process(join, "app.yaml", "--catalog", "topics.yaml") as dev:
        printed = dev.until()
        plan = invoked(join, "plan", "app.yaml", "--catalog", "topics.yaml")
        assert plan.exit_code == 1
        assert plan.stdout in printed
        edit(join / "topics.yaml", "users: 6", "users: 8")
        printed = dev.until()
        assert "changed: topics.yaml" in printed
        assert len(rows_of(printed, "enriched")) == 3


def test_python_that_is_saved_twice_in_a_moment_is_really_imported_again(watched_payments: Watched) -> None:
    payments, dev = watched_payments
    for limit in ("_900", "_500", "_400", "_800"):  # the files have one size
        edit(payments / "spending.py", "LIMIT = 1_000", f"LIMIT = {limit[1:]}  ")
        printed = dev.until()
        assert "changed: spending.py" in printed
        assert len(rows_of(printed, "alerts")) == 2
        edit(payments / "spending.py", f"LIMIT = {limit[1:]}  ", "LIMIT = 1_000")
        assert len(rows_of(dev.until(), "alerts")) == 1


def test_an_error_of_own_code_shows_its_frames_and_the_record(watched_payments: Watched) -> None:
    payments, dev = watched_payments
    broken = '        before = pc.nothing_like_it("x")\n        before = pc.fill_null'
    edit(payments / "spending.py", "        before = pc.fill_null", broken)
    printed = dev.until()
    assert "payments#0 at offset 0" in printed
    trace = printed[printed.index("Traceback") :]
    assert trace.splitlines()[1].startswith(f'  File "{payments}/spending.py", line ')
    assert 'pc.nothing_like_it("x")' in trace
    assert "streamapp_runtime" not in printed
    edit(payments / "spending.py", broken, "        before = pc.fill_null")
    assert len(rows_of(dev.until(), "alerts")) == 1


def test_own_code_that_ends_the_process_ends_no_more_than_its_version(payments: Path) -> None:
    ends = {
        "import sys; sys.exit(3)": "it ended the process: sys.exit(3)",
        "import os; os._exit(7)": "the process of the app ended with exit code 7, by its own code",
        "import os; os.abort()": "the process of the app ended by SIGABRT",
        "breakpoint()": "is passed over: standard input is no terminal",
    }
    spending = payments / "spending.py"
    good = spending.read_text("utf-8")
    broken = {line: good.replace("        before =", f"        {line}\n        before =") for line in ends}
    spending.write_text(next(iter(broken.values())), "utf-8")
    with dev_process(payments, "app.py") as dev:
        for number, (line, words) in enumerate(ends.items()):
            if number:
                spending.write_text(broken[line], "utf-8")
            assert words in dev.until()
            spending.write_text(good, "utf-8")
            assert len(rows_of(dev.until(), "alerts")) == 1


def test_a_save_ends_code_that_does_not_end_by_itself(watched_payments: Watched) -> None:
    payments, dev = watched_payments
    endless = '        print("endless", flush=True)\n        while True: pass\n        before ='
    edit(payments / "spending.py", "        before =", endless)
    dev.until("endless")
    edit(payments / "spending.py", endless, "        before =")
    assert len(rows_of(dev.until(), "alerts")) == 1


def test_a_module_that_was_missing_is_seen_when_it_comes(watched_payments: Watched) -> None:
    payments, dev = watched_payments
    edit(payments / "spending.py", "LIMIT = 1_000", "from limits.cards import LIMIT")
    assert "No module named 'limits'" in dev.until()
    (payments / "limits").mkdir()
    (payments / "limits" / "cards.py").write_text("LIMIT = 500\n", "utf-8")
    (payments / "limits" / "__init__.py").write_text("NOTHING = 0\n", "utf-8")
    while len(rows_of(dev.until(), "alerts")) != 2:
        pass  # it may have looked between the two files
    (payments / "limits" / "cards.py").write_text("LIMIT = 1000\n", "utf-8")
    assert len(rows_of(dev.until(), "alerts")) == 1
    edit(payments / "spending.py", "from limits.cards import LIMIT", "LIMIT = 1_000")
    assert len(rows_of(dev.until(), "alerts")) == 1


def test_lines_that_are_added_reach_the_running_app_once_they_are_whole(join: Path) -> None:
    with dev_process(join, "app.yaml", "--show", "by-user", "--show", "enriched", "--table", "users") as dev:
        printed = dev.until()
        assert len(rows_of(printed, "by-user")) == 4
        assert rows_of(printed, "users")[0] == 'ann: {"user": "ann", "country": "NO"}'
        with (join / "sample" / "users.jsonl").open("a", encoding="utf-8") as users:
            users.write('{"user": "zoe", ')
            users.flush()
            assert "users.jsonl: the last line is not complete JSON, and is not sent yet" in dev.until(
                "left out 0"
            )
            users.write('"country": "DE"}\n')
        printed = dev.until("left out 0")
        assert rows_of(printed, "users") == ['zoe: {"user": "zoe", "country": "DE"}']
        with (join / "sample" / "views.jsonl").open("a", encoding="utf-8") as views:
            views.write('{"session": "d", "user": "zoe", "page": "/new"}\n')
        printed = dev.until("left out 0")
        assert rows_of(printed, "enriched") == ['{"user": "zoe", "page": "/new", "country": "DE"}']
        assert "changed" not in printed


def test_data_that_changed_otherwise_are_sent_again_from_the_start(watched_join: Watched) -> None:
    join, dev = watched_join
    edit(join / "sample" / "users.jsonl", "NO", "SE")
    printed = dev.until()
    assert "lines that were sent have changed" in printed
    assert "changed: the data, from the start" in printed
    assert rows_of(printed, "enriched")[0] == '{"user": "ann", "page": "/", "country": "SE"}'
    edit(join / "sample" / "users.jsonl", "SE", "NO")
    assert len(rows_of(dev.until(), "enriched")) == 3


def test_files_may_be_replaced_emptied_and_gone_for_a_while(watched_join: Watched) -> None:
    join, dev = watched_join
    app = join / "app.yaml"
    text = app.read_text("utf-8")
    for number in range(3):
        new = join / "app.yaml.new"
        new.write_text(text.replace('"user, page, country"', f'"user, country AS c{number}"'), "utf-8")
        os.replace(new, app)  # noqa: PTH105 - as editors save
        printed = dev.until()
        assert f'"c{number}": "NO"' in printed
        assert "problem" not in printed
    app.unlink()
    assert "cannot read app.yaml: No such file or directory" in dev.until()
    app.write_text("", "utf-8")
    assert "found nothing; a StreamApp has apiVersion" in dev.until()
    app.write_text(text[: len(text) // 2], "utf-8")
    assert "this is no YAML" in dev.until()
    app.write_text(text, "utf-8")
    assert len(rows_of(dev.until(), "enriched")) == 3


def test_of_many_saves_in_a_row_the_last_one_counts(join: Path) -> None:
    app = join / "app.yaml"
    text = app.read_text("utf-8")
    with dev_process(join, "app.yaml") as dev:
        dev.until()
        for number in range(100):
            app.write_text(text.replace('"user, page, country"', f'"user, country AS c{number}"'), "utf-8")
        while '"c99": "NO"' not in dev.until():
            pass


def log_of(version: int) -> Path:
    """The folder of the log that a process has open."""
    links = [link.readlink() for link in Path(f"/proc/{version}/fd").iterdir() if link.is_symlink()]
    (log,) = {path.parent for path in links if path.name == "data.mdb"}
    return log


def test_an_interrupt_ends_it_with_0_and_nothing_is_left(join: Path) -> None:
    with dev_process(join, "app.yaml") as dev:
        dev.until()
        (version,) = dev.children()
        log = log_of(version)
        assert log.is_dir()
        assert dev.interrupt() == 0
        dev.until("app.yaml: ended")
        assert not log.parent.exists()
        assert not Path(f"/proc/{version}").exists()


def test_interrupts_that_follow_each_other_leave_no_process(payments: Path) -> None:
    endless = """
        import signal, time
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        print("endless", flush=True)
        while True:
            try:
                time.sleep(1)
            except KeyboardInterrupt:
                pass
        before ="""
    edit(payments / "spending.py", "        before =", endless[1:])
    with dev_process(payments, "app.py") as dev:
        dev.until("endless")
        (version,) = dev.children()
        dev.process.send_signal(signal.SIGINT)
        assert dev.interrupt() == 0
        assert not Path(f"/proc/{version}").exists()


def test_a_version_ends_with_the_process_that_started_it(join: Path) -> None:
    with dev_process(join, "app.yaml") as dev:
        dev.until()
        (version,) = dev.children()
        ended, log = os.pidfd_open(version), log_of(version)
        dev.process.kill()
        dev.process.wait()
        assert select.select([ended], [], [], GENEROUS_SECONDS)[0]
        os.close(ended)
        assert not log.parent.exists()


def test_a_reader_that_goes_away_ends_it(join: Path) -> None:
    process = subprocess.Popen(  # noqa: S602 - a pipe as users write it
        f"{COMMAND} dev app.yaml 2>/dev/null | head -1; exit ${{PIPESTATUS[0]}}",
        shell=True,
        executable="/bin/bash",
        cwd=join,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stdout.readline().startswith(b"enriched ")
    edit(join / "app.yaml", '"user, page, country"', '"user, country"')
    assert process.wait(GENEROUS_SECONDS) == 141
    process.stdout.close()


def test_breakpoints_open_the_debugger_at_the_terminal(payments: Path) -> None:
    with dev_process(payments, "app.py", terminal=True) as dev:
        dev.until()
        edit(payments / "spending.py", "        before =", "        breakpoint()\n        before =")
        dev.until("(Pdb) ")
        dev.type("p LIMIT * 7\n")
        assert "7000" in dev.until("(Pdb) ")
        dev.type("c\n")
        assert len(rows_of(dev.until(), "alerts")) == 1
        edit(payments / "spending.py", "breakpoint()", "import pdb; pdb.set_trace()")
        dev.until("(Pdb) ")
        dev.type("q\n")
        assert "the debugger was left, and the app has ended" in dev.until()
        edit(payments / "spending.py", "import pdb; pdb.set_trace()", "breakpoint()")
        dev.until("(Pdb) ")
        edit(payments / "spending.py", "        breakpoint()\n", "")
        assert len(rows_of(dev.until(), "alerts")) == 1
        dev.type("\x03")
        dev.until("app.py: ended")
        assert dev.process.wait(GENEROUS_SECONDS) == 0


def test_an_interrupt_in_the_debugger_ends_it_with_0(payments: Path) -> None:
    edit(payments / "spending.py", "        before =", "        breakpoint()\n        before =")
    with dev_process(payments, "app.py", terminal=True) as dev:
        dev.until("(Pdb) ")
        dev.type("\x03")
        dev.until("app.py: ended")
        assert dev.process.wait(GENEROUS_SECONDS) == 0


def once(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [COMMAND, "dev", *arguments]
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, input="", timeout=60
    )


def test_once_prints_rows_alone_on_standard_output_and_ends_with_0_or_1(join: Path) -> None:
    done = once(join, "app.yaml", "--once", "--limit", "2")
    assert done.returncode == 0
    assert rows_of(done.stdout, "enriched") == [
        '{"user": "bob", "page": "/shoes", "country": "FR"}',
        '{"user": "ann", "page": "/cart", "country": "NO"}',
    ]
    assert len(done.stdout.splitlines()) == 2
    assert "enriched: 1 earlier rows are not shown; --limit shows more" in done.stderr
    edit(join / "app.yaml", "table: users,", "table: user,")
    done = once(join, "app.yaml", "--once")
    assert (done.returncode, done.stdout) == (1, "")
    assert READY not in done.stderr


def test_late_rows_and_bad_records_are_shown(tmp_path: Path) -> None:
    folder = new_app(tmp_path, "windows")
    sample = folder / "sample" / "views.jsonl"
    early = sample.read_text("utf-8").splitlines()[0]
    edit(folder / "app.yaml", "spec:\n", "spec:\n  onBadRecord: {action: skip}\n")
    with dev_process(folder, "app.yaml") as dev:
        dev.until()
        with sample.open("a", encoding="utf-8") as views:
            views.write(f"no row\n{early}\n")
        printed = dev.until("left out 1")
        assert "left out: views#0 at offset 5: no JSON object: no row" in printed
        assert "late for counted: {" in printed
        assert "late 1, left out 1" in printed


def test_an_option_that_does_not_fit_the_app_ends_it_with_2(join: Path) -> None:
    done = once(join, "app.yaml", "--show", "enrich")
    assert '--show: no stream or operator "enrich"; did you mean "enriched"?' in done.stderr
    assert (done.returncode, "Traceback" in done.stderr) == (2, False)


def test_a_stream_that_is_shown_may_go_and_come_back(watched_join: Watched) -> None:
    join, dev = watched_join
    edit(join / "app.yaml", "by-user", "by-person")
    assert '--show: no stream or operator "by-user"' in dev.until()
    edit(join / "app.yaml", "by-person", "by-user")
    assert len(rows_of(dev.until(), "by-user")) == 4


def test_another_file_is_watched_where_it_is_named(payments: Path) -> None:
    (payments / "limit.txt").write_text("1000", "utf-8")
    edit(payments / "spending.py", "LIMIT = 1_000", 'LIMIT = int(open("limit.txt").read())')
    with dev_process(payments, "app.py", "--watch", "limit.txt") as dev:
        assert len(rows_of(dev.until(), "alerts")) == 1
        (payments / "limit.txt").write_text("500", "utf-8")
        printed = dev.until()
        assert "changed: limit.txt" in printed
        assert len(rows_of(printed, "alerts")) == 2


def test_an_app_of_mode_batch_runs_a_turn_over_its_data(join: Path) -> None:
    edit(join / "app.yaml", "spec:\n", "spec:\n  mode: batch\n")
    with dev_process(join, "app.yaml") as dev:
        assert len(rows_of(dev.until(), "enriched")) == 3
        with (join / "sample" / "views.jsonl").open("a", encoding="utf-8") as views:
            views.write('{"session": "d", "user": "bob", "page": "/new"}\n')
        assert len(rows_of(dev.until("left out 0"), "enriched")) == 1


def test_an_expression_that_needs_spark_is_named_and_the_next_version_finds_spark_started(join: Path) -> None:
    select = "user, upper(initcap(page)) AS page, country"
    edit(join / "app.yaml", '"user, page, country"', f'"{select}"')
    with dev_process(join, "app.yaml") as dev:
        printed = dev.until()
        assert f"starts Spark, which takes seconds, for {select}" in printed
        assert rows_of(printed, "enriched")[1] == '{"user": "bob", "page": "/SHOES", "country": "FR"}'
        assert f"Spark is needed for\n  spec.operators[1].joinTable.select: {select}" in printed
        edit(join / "app.yaml", "upper(initcap(page))", "lower(initcap(page))")
        printed = dev.until()
        assert "starts Spark" not in printed
        assert rows_of(printed, "enriched")[1] == '{"user": "bob", "page": "/shoes", "country": "FR"}'
        assert dev.interrupt() == 0
