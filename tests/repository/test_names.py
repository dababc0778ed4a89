"""Names that hide what they stand for, and tests that are the harness of others."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.harness.repository.checkout import REPOSITORY, files

PARTICIPLES = {"told", "found", "kept", "given", "said"}
PRODUCT = ("streamapp/", "operator/", "runtime/")


def bound_names(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Variables, parameters, attributes and fields, each with the line that binds it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, node.lineno
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr, node.lineno
        elif isinstance(node, ast.arg):
            yield node.arg, node.lineno
        elif isinstance(node, (ast.MatchAs, ast.MatchStar)) and node.name:
            yield node.name, node.lineno


def trees(under: tuple[str, ...]) -> Iterator[tuple[str, ast.Module]]:
    for path in files("*.py"):
        name = path.relative_to(REPOSITORY).as_posix()
        if name.startswith(under):
            yield name, ast.parse(path.read_text(encoding="utf-8"))


def test_a_local_name_carries_its_noun() -> None:
    """`reports`, not `told`; `missing_tasks`, not `found`."""
    hidden = [
        f"{file}:{line}: {name}"
        for file, tree in trees(PRODUCT)
        for name, line in bound_names(tree)
        if name.strip("_") in PARTICIPLES
    ]
    assert hidden == []


@pytest.mark.parametrize(
    "code",
    [
        "found = 1",
        "for found in (): ...",
        "def f(found): ...",
        "self.found = 1",
        "class A:\n    found: int",
        "match x:\n    case [found]: ...",
        "[found for found in ()]",
        "(found := 1)",
    ],
)
def test_a_name_is_seen_wherever_it_is_bound(code: str) -> None:
    assert "found" in dict(bound_names(ast.parse(code)))


def test_a_docstring_begins_with_its_noun() -> None:
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    clauses = [
        f"{file}: {docstring.splitlines()[0]}"
        for file, tree in trees(PRODUCT)
        for node in ast.walk(tree)
        if isinstance(node, documented)
        and (docstring := ast.get_docstring(node))
        and docstring.split()[0] in {"What", "Whether", "How", "Where", "When", "Which", "Who"}
    ]
    assert clauses == []


def test_no_test_is_the_harness_of_another() -> None:
    borrowed = [
        f"{file}:{node.lineno}: {node.module}"
        for file, tree in trees(("tests/", "bench/"))
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module and _is_test(node.module)
    ]
    assert borrowed == []


def _is_test(module: str) -> bool:
    return module.startswith("tests.") and Path(module.replace(".", "/")).name.startswith("test_")
