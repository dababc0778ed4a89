"""A copy of the checkout, into whose modules faults and probes are planted."""

import ast
import importlib.util
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.harness.mutants.faults import Fault

HITS: Final = "MUTANT_HITS"
PROBE: Final = (
    "def _mutant_probe(number, _seen=set()):\n"
    "    import os\n"
    f"    test, folder = os.environ.get('PYTEST_CURRENT_TEST'), os.environ.get('{HITS}')\n"
    "    if test and folder and (number, test) not in _seen:\n"
    "        _seen.add((number, test))\n"
    "        with open(os.path.join(folder, str(os.getpid())), 'a', encoding='utf-8') as hits:\n"
    "            hits.write(f'{number} {test}\\n')\n"
)
"""Notes which test runs a statement, in the test's own process and in those that it starts."""


class MutantTree:
    """A clone of the checkout at one commit, whose modules tests import in place of the checkout's."""

    def __init__(self, checkout: Path, folder: Path, commit: str) -> None:
        self.folder = folder
        if not folder.exists():
            _run(["git", "clone", "--quiet", "--local", "--no-hardlinks", str(checkout), str(folder)])
        _run(["git", "-C", str(folder), "fetch", "--quiet", "origin", commit])
        _run(["git", "-C", str(folder), "reset", "--quiet", "--hard", commit])

    def text(self, path: str) -> str:
        """The text of a module as it stands."""
        return (self.folder / path).read_text(encoding="utf-8")

    def write(self, path: str, text: str) -> None:
        """Put a text into a module's place; what was compiled of the former one goes."""
        file = self.folder / path
        file.write_text(text, encoding="utf-8")
        Path(importlib.util.cache_from_source(str(file))).unlink(missing_ok=True)

    @contextmanager
    def planted(self, fault: Fault) -> Iterator[None]:
        """The tree with one fault in it."""
        text = self.text(fault.path)
        self.write(fault.path, fault.planted(text))
        try:
            yield
        finally:
            self.write(fault.path, text)

    def pytest(
        self, arguments: Iterable[str], seconds: float, environment: Mapping[str, str]
    ) -> subprocess.CompletedProcess[str] | None:
        """A run of tests in this tree; nothing where it has not ended in time."""
        roots = (self.folder, self.folder / "operator", self.folder / "runtime")
        path = os.pathsep.join(str(root) for root in roots)
        with subprocess.Popen(
            [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments],
            cwd=self.folder,
            env={**os.environ, **environment, "PYTHONPATH": path, "CI": "true"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            process_group=0,
        ) as run:
            try:
                output, _ = run.communicate(timeout=seconds)
            except subprocess.TimeoutExpired:
                os.killpg(run.pid, 9)
                run.communicate()
                return None
            return subprocess.CompletedProcess(run.args, run.returncode, output)


def resolved(checkout: Path, revision: str) -> str:
    """The full name of a commit."""
    command = ["git", "-C", str(checkout), "rev-parse", "--verify", f"{revision}^{{commit}}"]
    return subprocess.run(
        command, check=True, stdin=subprocess.DEVNULL, capture_output=True, text=True
    ).stdout.strip()


def _run(command: list[str]) -> None:
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL)


def probed(source: str, statements: Mapping[int, Iterable[int]]) -> str:
    """A module's text in which a probe notes the numbers of faults, before the statements of these lines."""
    lines = source.splitlines(keepends=True)
    for line in sorted(statements, reverse=True):
        indentation = lines[line - 1][: len(lines[line - 1]) - len(lines[line - 1].lstrip())]
        calls = [f"{indentation}_mutant_probe({number})\n" for number in statements[line]]
        lines[line - 1 : line - 1] = calls
    header = 0
    for node in ast.parse(source).body:
        is_docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if not (is_docstring or (isinstance(node, ast.ImportFrom) and node.module == "__future__")):
            break
        header = node.end_lineno or 0
    return "".join(lines[:header]) + PROBE + "".join(lines[header:])


def function_lines(source: str) -> list[int]:
    """The line of the first statement of each function, where a probe can stand."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            has_docstring = isinstance(node.body[0], ast.Expr) and isinstance(
                node.body[0].value, ast.Constant
            )
            found += [statement.lineno for statement in node.body[has_docstring:][:1]]
    return found
