import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.harness.repository.checkout import REPOSITORY

pytestmark = pytest.mark.usefixtures("process")

ROOTS = ("streamapp", "operator/streamapp_operator", "runtime/streamapp_runtime")
VIOLATIONS = [
    ("streamapp/spec/planted.py", "import streamapp.plan"),
    ("streamapp/spec/planted.py", "import streamapp_operator"),
    ("streamapp/plan/planted.py", "import pathlib"),
    ("runtime/streamapp_runtime/rows/planted.py", "import streamapp_operator"),
    (
        "operator/streamapp_operator/controller/client/planted.py",
        "import streamapp_operator.reconciler.facts",
    ),
    (
        "operator/streamapp_operator/controller/watch/planted.py",
        "import streamapp_operator.controller.workqueue",
    ),
    (
        "operator/streamapp_operator/reconciler/facts/planted.py",
        "import streamapp_operator.reconciler.status",
    ),
    ("operator/streamapp_operator/reconciler/planning/planted.py", "import asyncio"),
    ("operator/streamapp_operator/reconciler/unlisted/__init__.py", ""),
    ("runtime/streamapp_runtime/stores/engines/planted.py", "import streamapp_runtime.lanes.protocol"),
    ("runtime/streamapp_runtime/lanes/protocol/planted.py", "import streamapp_runtime.lanes.batches"),
    ("runtime/streamapp_runtime/driver/batches/planted.py", "import streamapp_runtime.driver.reporting"),
    ("runtime/streamapp_runtime/driver/inputs/planted.py", "import pyspark"),
    ("runtime/streamapp_runtime/operators/join/planted.py", "import streamapp_runtime.operators.aggregate"),
    ("runtime/streamapp_runtime/systems/kafka/planted.py", "import streamapp_runtime.systems.embedded"),
    ("streamapp/tasks/layouts/planted.py", "import streamapp.tasks.groupers"),
    ("streamapp/spec/resource/planted.py", "import streamapp.spec.schema"),
]


def _judged(folder: Path) -> tuple[int, str]:
    """What import-linter says of the packages below a folder."""
    command = [
        str(Path(sys.executable).parent / "lint-imports"),
        "--config",
        "pyproject.toml",
        "--no-cache",
        "--no-logo",
    ]
    roots = [str((folder / root).parent) for root in ROOTS]
    done = subprocess.run(
        command,
        cwd=folder,
        env={"PYTHONPATH": ":".join(roots), "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The packages and their contracts, where a test may spoil them."""
    shutil.copy(REPOSITORY / "pyproject.toml", tmp_path)
    for root in ROOTS:
        shutil.copytree(REPOSITORY / root, tmp_path / root, ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def test_the_import_contracts_hold(copy: Path) -> None:
    code, said = _judged(copy)
    assert code == 0, said
    assert "0 broken" in said


@pytest.mark.parametrize(("file", "line"), VIOLATIONS)
def test_an_import_that_breaks_a_contract_is_caught(copy: Path, file: str, line: str) -> None:
    (copy / file).parent.mkdir(exist_ok=True)
    (copy / file).write_text(line + "\n", encoding="utf-8")
    code, said = _judged(copy)
    assert code == 1, said
    assert "planted" in said or "unlisted" in said
