import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.harness.core.all_cases import all_cases
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


def test_an_import_that_breaks_a_contract_is_caught(copy: Path) -> None:
    planted: dict[str, str] = {}  # by the module that imports
    for number, (file, line) in enumerate(VIOLATIONS):
        path = (copy / file).with_name(f"planted_{number}.py")
        path.write_text(line + "\n", encoding="utf-8")
        (package,) = [Path(root).name for root in ROOTS if file.startswith(f"{root}/")]
        module = file[file.index(package) :].replace("/", ".").removesuffix("planted.py")
        planted[f"{module}{path.stem}"] = line.removeprefix("import ")
    code, said = _judged(copy)
    assert code == 1, said
    unwrapped = " ".join(said.split())
    with all_cases() as case:
        for importer, imported in planted.items():
            with case(importer):
                assert f"{importer} -> {imported}" in unwrapped


def test_a_room_that_no_contract_lists_is_caught(copy: Path) -> None:
    room = copy / "operator/streamapp_operator/reconciler/unlisted"
    room.mkdir()
    (room / "__init__.py").touch()
    code, said = _judged(copy)
    assert code == 1, said
    assert "unlisted" in said
