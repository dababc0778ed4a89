"""A stage of an image that copies modules by name copies all that they import, or no image can be made."""

import ast
import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.harness.repository.checkout import REPOSITORY

LIBRARY = "/opt/streamapp/lib/"
PRODUCT = ("streamapp", "streamapp_operator", "streamapp_runtime")


def copied_stages(dockerfile: Path) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Each stage that copies modules of the product by name: its name, and from where to where it copies."""
    text = dockerfile.read_text("utf-8").replace("\\\n", " ")
    for stage in re.split(r"^(?=FROM )", text, flags=re.MULTILINE):
        copies: list[tuple[str, str]] = []
        for line in re.findall(r"^COPY (?!--from)(.*)$", stage, re.MULTILINE):
            *sources, target = shlex.split(line)
            copies += [(source, target) for source in sources]
        if any(target.startswith(LIBRARY) for _, target in copies):
            name = re.match(r"FROM \S+(?: AS (\S+))?", stage)
            assert name, stage
            yield name[1] or "the last", copies


def lay_out(copies: list[tuple[str, str]], image: Path) -> None:
    """Put the files where the stage puts them, by the rules of COPY."""
    for source, target in copies:
        file, copy = REPOSITORY / source, image / target.removeprefix("/")
        if file.is_dir():
            shutil.copytree(file, copy, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            copy = copy / file.name if target.endswith("/") else copy
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, copy)


def product_imports(file: Path) -> Iterator[str]:
    """The modules of the product that a file needs as it is imported; those for types alone are left out."""
    nodes: list[ast.AST] = [ast.parse(file.read_text("utf-8"))]
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            nodes += node.orelse
            continue
        nodes += ast.iter_child_nodes(node)
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] in PRODUCT:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] in PRODUCT)


def module_file(module: str, roots: list[Path]) -> Path | None:
    """The file of a module below the first of the roots that has it."""
    stem = Path(*module.split("."))
    names = (stem.with_suffix(".py"), stem / "__init__.py")
    return next((root / name for root in roots for name in names if (root / name).is_file()), None)


def missing_modules(image: Path, programs: list[Path]) -> set[str]:
    """The modules that programs of an image import, however indirectly, and that are not in it."""
    library = image / LIBRARY.strip("/")
    checkout = [REPOSITORY, REPOSITORY / "operator", REPOSITORY / "runtime"]
    missing: set[str] = set()
    visited: set[Path] = set()
    while programs:
        file = programs.pop()
        if file in visited:
            continue
        visited.add(file)
        for module in product_imports(file):
            copied = module_file(module, [library])
            if copied:
                programs.append(copied)
            elif module_file(module, checkout):
                missing.add(module)
    return missing


STAGES = {
    f"{part}-{stage}": copies
    for part in ("operator", "runtime")
    for stage, copies in copied_stages(REPOSITORY / part / "Dockerfile")
}


@pytest.mark.parametrize("stage", STAGES)
def test_what_a_stage_of_an_image_runs_finds_all_that_it_imports(stage: str, tmp_path: Path) -> None:
    copies = STAGES[stage]
    lay_out(copies, tmp_path)
    scripts = [file for file in tmp_path.rglob("*.py") if LIBRARY.strip("/") not in file.as_posix()]
    entrypoint = (REPOSITORY / "runtime" / "image" / "entrypoint").read_text("utf-8")
    called = re.findall(r"python -m (streamapp[\w.]*)", entrypoint)
    commands = [module_file(module, [tmp_path / LIBRARY.strip("/")]) for module in called]
    assert scripts
    assert called
    assert None not in commands
    assert not missing_modules(tmp_path, [*scripts, *filter(None, commands)])


def test_a_module_that_a_stage_forgets_is_named(tmp_path: Path) -> None:
    copies = [copy for copy in STAGES["runtime-classes"] if not copy[0].endswith("file_lock.py")]
    lay_out(copies, tmp_path)
    scripts = [file for file in tmp_path.rglob("*.py") if LIBRARY.strip("/") not in file.as_posix()]
    assert "streamapp_runtime.stores.directories.file_lock" in missing_modules(tmp_path, scripts)
