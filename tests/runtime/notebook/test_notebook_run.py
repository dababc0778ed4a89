from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from jupyter_client.manager import KernelManager

from streamapp.dsl import App
from streamapp.testing import AppRefusedError, WrongUseError

APP = """
from streamapp.dsl import App
def app_of(where="true", python=None, **options):
    app = App("clicks", **options)
    log = app.embedded("main", path="data")
    flow = log.stream("clicks", key="user", columns="user STRING, page STRING, n INT")
    if where:
        flow = flow.filter("real", where=where)
    if python:
        flow = flow.map("own", python=python, columns="user STRING, page STRING, n INT", key="user")
    flow.send_to("out", log.stream("kept", key="user"))
    return app
"""
ROWS = [{"user": "ann", "page": "/", "n": 1}, {"user": "bob", "page": "/health"}]


def app_of(**options: Any) -> App:
    names: dict[str, Any] = {}
    exec(APP, names)  # noqa: S102 - the kernels below get the same text
    app: App = names["app_of"](**options)
    return app


def test_rows_are_given_in_the_form_that_is_asked_for() -> None:
    run = app_of(where="page NOT LIKE '/health%'").run({"clicks": ROWS})
    assert run.rows("kept").to_dict("records") == ROWS[:1]
    assert run.rows("clicks", "arrow")["n"].to_pylist() == [1, None]
    assert str(run.rows("clicks")["n"].dtype) == "int32[pyarrow]"


@pytest.mark.parametrize("form", [pd.DataFrame, pa.Table.from_pylist])
def test_rows_are_taken_from_tables(form: Any) -> None:
    run = app_of(where="").run({"clicks": form(ROWS[:1])})
    assert run.rows("kept", "arrow").to_pylist() == ROWS[:1]


def test_an_app_runs_again_from_the_start() -> None:
    app = app_of(where="")
    assert [len(app.run({"clicks": ROWS}).rows("kept")) for _ in range(2)] == [2, 2]


def test_a_run_that_stays_open_takes_more_rows_until_it_is_closed() -> None:
    with app_of(where="").run({"clicks": ROWS}, until_end=False) as run:
        run.send({"clicks": ROWS})
        assert len(run.rows("kept")) == 4
    assert len(run.rows("kept")) == 4
    with pytest.raises(WrongUseError, match="until_end=False"):
        run.send({"clicks": ROWS})


def test_wrong_names_and_values_are_refused_with_what_is_there() -> None:
    run = app_of(where="").run({"clicks": ROWS})
    with pytest.raises(WrongUseError, match='did you mean "kept"'):
        run.rows("keptt")
    with pytest.raises(WrongUseError, match='did you mean "pandas"'):
        run.rows("kept", "panda")
    with pytest.raises(WrongUseError, match="list of dicts"):
        app_of().run({"clicks": 3})
    with pytest.raises(WrongUseError, match='did you mean "clicks"'):
        app_of().run({"click": ROWS})
    with pytest.raises(WrongUseError, match="no rows by stream"):
        app_of().run()


def test_a_batch_app_gives_its_rows_and_says_that_its_tables_are_not_kept() -> None:
    run = app_of(where="", mode="batch").run({"clicks": ROWS})
    assert len(run.rows("kept")) == 2
    with pytest.raises(WrongUseError, match="tables of an app with mode: batch"):
        run.table("users")


def test_an_app_with_problems_is_refused_and_displays_them() -> None:
    app = App("Clicks")
    assert "metadata.name" in app._repr_mimebundle_()["text/html"]
    with pytest.raises(AppRefusedError, match=r"metadata\.name"):
        app.run({"clicks": []})


@pytest.fixture
def kernel() -> Any:
    manager = KernelManager(kernel_name="python3")
    manager.start_kernel()
    client = manager.client()
    client.start_channels()
    client.wait_for_ready(timeout=60)
    yield manager, client
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def executed(client: Any, code: str) -> tuple[Any, str]:
    lines: list[str] = []

    def hear(message: Any) -> None:
        if message["msg_type"] == "stream":
            lines.append(message["content"]["text"])

    reply = client.execute_interactive(code, timeout=120, output_hook=hear)
    return reply["content"], "".join(lines)


@pytest.mark.usefixtures("process")
def test_a_function_of_a_cell_runs_and_its_new_definition_is_used(kernel: Any) -> None:
    _, client = kernel
    executed(client, APP)
    define = "import pyarrow as pa\ndef own(batch): return batch.set_column(2, 'n', pa.array([{}]))"
    run = f"print(app.run({{'clicks': {ROWS[:1]!r}}}).rows('kept')['n'][0])"
    executed(client, define.format(7))
    _, first = executed(client, f"app = app_of('', own)\n{run}")
    executed(client, define.format(8))
    _, second = executed(client, run)
    assert (first, second) == ("7\n", "8\n")


INTERRUPTED = """
import os, signal, time
def own(batch):
    global files
    descriptors = [f"/proc/self/fd/{number}" for number in os.listdir("/proc/self/fd")]
    links = [os.readlink(path) for path in descriptors if os.path.lexists(path)]
    files = [link for link in links if "streamapp-test-" in link]
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(60)
"""


@pytest.mark.usefixtures("process")
def test_an_interrupt_ends_a_run_and_leaves_no_folder(kernel: Any) -> None:
    _, client = kernel
    executed(client, APP)
    executed(client, INTERRUPTED)
    reply, _ = executed(client, f"app_of('', own).run({{'clicks': {ROWS!r}}})")
    assert reply["ename"] == "KeyboardInterrupt"
    _, text = executed(client, "print(bool(files), [path for path in files if os.path.exists(path)])")
    assert text == "True []\n"
    _, text = executed(client, f"print(len(app_of('').run({{'clicks': {ROWS!r}}}).rows('kept')))")
    assert text == "2\n"


JVMS = """
from pathlib import Path
pids = [pid for task in Path("/proc/self/task").iterdir() for pid in (task / "children").read_text().split()]
print(len([pid for pid in pids if Path(f"/proc/{pid}/comm").read_text() == "java\\n"]))
"""


@pytest.mark.long
def test_an_interrupt_ends_the_jvm_that_a_run_has_started(kernel: Any) -> None:
    _, client = kernel
    executed(client, APP)
    executed(client, INTERRUPTED)
    executed(client, f"rows = {ROWS!r}")
    run = "run = app_of(\"initcap(page) = '/'\", {}).run({{'clicks': rows}})"
    executed(client, run.format(None))
    assert executed(client, JVMS)[1] == "1\n"
    assert executed(client, run.format("own"))[0]["ename"] == "KeyboardInterrupt"
    assert executed(client, JVMS)[1] == "0\n"
    assert executed(client, run.format(None))[0]["status"] == "ok"
