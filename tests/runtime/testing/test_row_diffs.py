"""How rows are compared, and shown where they differ: by pytest, by unittest."""

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from streamapp.testing import Rows, assert_rows

ROWS = [{"user": "ann", "page": "/", "n": 1}, {"user": "bob", "page": "/cart", "n": 2}]
EXAMPLE = Path(__file__).parents[3] / "examples" / "page-views" / "app.yaml"


def test_rows_are_the_same_in_any_order_unless_an_order_is_asked_for() -> None:
    assert_rows(ROWS, ROWS[::-1])
    with pytest.raises(AssertionError, match="another order"):
        assert_rows(ROWS, ROWS[::-1], in_order=True)
    with pytest.raises(AssertionError, match="1 missing"):
        assert_rows(ROWS, [*ROWS, ROWS[0]])


def test_a_row_that_differs_stands_beside_the_one_that_was_expected() -> None:
    with pytest.raises(AssertionError) as different:
        assert_rows(Rows(ROWS), [ROWS[0] | {"n": 7}, {"user": "zoe"}, ROWS[1]])
    assert str(different.value).splitlines() == [
        "rows differ: 2 missing (-), 1 not expected (+), 1 as expected",
        "   user   page  n",
        "-  'zoe'  -     -",
        "-  'ann'  '/'   *7*",
        "+  'ann'  '/'   *1*",
    ]


def run_tests(folder: Path, program: str, *command: str) -> str:
    file = folder / "test_page_views.py"
    file.write_text(textwrap.dedent(program), "utf-8")
    ended = subprocess.run(
        [sys.executable, "-m", *command], cwd=folder, capture_output=True, text=True, timeout=300, check=False
    )
    return ended.stdout + ended.stderr


@pytest.mark.usefixtures("process")
def test_the_plugin_brings_the_fixture_and_shows_rows_that_differ(tmp_path: Path) -> None:
    said = run_tests(
        tmp_path,
        f"""
        def test_views(streamapp):
            app = streamapp({str(EXAMPLE)!r})
            app.send("users", {{"user": "ann", "country": "NO", "tier": 1}})
            app.send("views", {{"user": "ann", "page": "/"}}, at="2026-01-01T12:00")
            assert app.rows("enriched") == [{{"user": "ann", "page": "/", "country": "FR"}}]
        """,
        *("pytest", "-q", "-p", "no:cacheprovider", file_name()),
    )
    assert "1 failed" in said
    assert "rows differ: 1 missing (-), 1 not expected (+), 0 as expected" in said
    assert "*'FR'*" in said


@pytest.mark.usefixtures("process")
def test_unittest_runs_apps_and_shows_rows_that_differ(tmp_path: Path) -> None:
    said = run_tests(
        tmp_path,
        f"""
        import unittest
        from streamapp.testing import TestApp, assert_rows

        class PageViews(unittest.TestCase):
            def setUp(self):
                self.app = self.enterContext(TestApp({str(EXAMPLE)!r}))

            def test_a_user_that_is_known(self):
                self.app.send("users", {{"user": "ann", "country": "NO", "tier": 1}})
                self.app.send("views", {{"user": "ann", "page": "/"}}, at="2026-01-01T12:00")
                assert_rows(self.app.rows("enriched"), [{{"user": "ann", "page": "/", "country": "NO"}}])

            def test_nobody(self):
                assert_rows(self.app.rows("enriched"), [{{"user": "ann"}}])
        """,
        *("unittest", file_name()),
    )
    assert "Ran 2 tests" in said
    assert "failures=1" in said
    assert "1 missing (-)" in said


def file_name() -> str:
    return "test_page_views.py"


@pytest.mark.usefixtures("process")
def test_neither_the_plugin_nor_the_kit_imports_the_engine_until_a_test_starts_an_app() -> None:
    program = (
        "import sys, streamapp_runtime.testing.pytest_plugin; "
        "from streamapp.testing import TestApp, assert_rows; "
        "print(sorted(name for name in sys.modules if name.split('.')[0] in "
        "{'pyspark', 'pyarrow', 'pydantic', 'numpy', 'pandas', 'lmdb', 'sqlglot'}))"
    )
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "[]"


@pytest.mark.usefixtures("process")
def test_the_first_example_passes_its_tests() -> None:
    said = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            str(EXAMPLE.with_name("test_page_views.py")),
        ],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert "3 passed" in said.stdout, said.stdout
