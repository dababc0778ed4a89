"""How a kind of operator is added: the lines that it takes beside its room, in a copy of the product."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from tests.harness.repository.checkout import REPOSITORY

ROOTS = {"streamapp": ".", "streamapp_operator": "operator", "streamapp_runtime": "runtime"}
"""The packages, and the folders in which they lie."""
ROOM = Path(__file__).parent / "dedupe"
OPERATORS = "runtime/streamapp_runtime/operators"


class Addition(NamedTuple):
    """Lines that are put before a line of a file which begins like this; it has one such line."""

    file: str
    before: str
    lines: str


MODEL = (
    Addition(
        "streamapp/spec/resource/operators.py",
        "class SendTo(Part):",
        '''class Dedupe(Part):
    """Keeps the first row of each key."""

    source: Source
    """The stream or operator it reads."""


''',
    ),
    Addition(
        "streamapp/spec/resource/operators.py",
        "    send_to: SendTo | None",
        '    dedupe: Dedupe | None = None\n    """Keep the first row of each key."""\n',
    ),
)
"""The resource's words."""

KIND = Addition(
    "streamapp/spec/resource/operator_kinds.py", '    SEND_TO = "sendTo"', '    DEDUPE = "dedupe"\n'
)
TRAITS = Addition(
    "streamapp/spec/resource/operator_kinds.py",
    "    OperatorKind.SEND_TO: ",
    "    OperatorKind.DEDUPE: replace(_ON_ROWS, keeps_state=True, grouping=Grouping.ALWAYS),\n",
)
MEANING = Addition(
    "streamapp/author/state_meaning.py",
    "    OperatorKind.PROCESS: ",
    "    OperatorKind.DEDUPE: _key_aspect,\n",
)
COLUMNS = Addition(
    "streamapp/columns/kind_columns.py",
    "    OperatorKind.BROADCAST: ",
    "    OperatorKind.DEDUPE: _of_one(_broadcast),\n",
)
"""What it hands on are the rows that it reads, as with a broadcast."""
METHOD = Addition(
    "streamapp/dsl/stream_flow.py",
    "    def send_to_table(",
    '''    def dedupe(self, name: str) -> "Flow":
        """Keep the first row of each key."""
        return self._then(name, "dedupe", self.name)

''',
)
COMPILER = (
    Addition(
        f"{OPERATORS}/kind_table.py",
        "OperatorCompiler = ",
        "from streamapp_runtime.operators.dedupe.dedupe_compiler import compile_dedupe\n",
    ),
    Addition(
        f"{OPERATORS}/kind_table.py",
        "    OperatorKind.SEND_TO: ",
        "    OperatorKind.DEDUPE: compile_dedupe,\n",
    ),
)
"""Its row in the table that the compiler reads."""

RUNNER = (
    Addition(
        f"{OPERATORS}/operation_table.py",
        "RUNNERS: ",
        "from streamapp_runtime.operators.dedupe.dedupe_executor import DEDUPE_RUNNER\n"
        "from streamapp_runtime.operators.dedupe.dedupe_operation import FirstOfKey\n",
    ),
    Addition(f"{OPERATORS}/operation_table.py", "    Totals: ", "    FirstOfKey: DEDUPE_RUNNER,\n"),
)
"""Its row in the table that workers read: they load no compiler."""

EVERY_ADDITION = (*MODEL, KIND, TRAITS, MEANING, COLUMNS, METHOD, *COMPILER, *RUNNER)


def copy_product(folder: Path) -> None:
    """The product as it stands, with the room of the new kind, which nothing knows yet."""
    for package, parent in ROOTS.items():
        target = folder / parent / package
        shutil.copytree(REPOSITORY / parent / package, target, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOM, folder / OPERATORS / "dedupe", ignore=shutil.ignore_patterns("__pycache__"))


def add(folder: Path, *additions: Addition) -> None:
    """Put lines into the copy."""
    for addition in additions:
        file = folder / addition.file
        lines = file.read_text("utf-8").splitlines(keepends=True)
        (place,) = (number for number, line in enumerate(lines) if line.startswith(addition.before))
        file.write_text("".join([*lines[:place], addition.lines, *lines[place:]]), "utf-8")


def python(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python with the copy in place of the product."""
    roots = [str((folder / parent).resolve()) for parent in ROOTS.values()]
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(roots)},
        capture_output=True,
        text=True,
        check=False,
    )
