"""Looks for an app's own code on this machine, without running any of it."""

import ast
import sys
from collections.abc import Iterator, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from typing import Final

from streamapp.author.code_references import python_references
from streamapp.spec.problem import Problem, nearest
from streamapp.spec.reasons import Reason
from streamapp.spec.resource.app import StreamApp

_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def code_warnings(app: StreamApp, source: str) -> tuple[Problem, ...]:
    """The code that an app names and this machine lacks. It may be elsewhere: in the image, or on executors.

    The code is looked for beside the resource first, where a run finds it too.
    """
    folder = Path.cwd() if source == "-" else Path(source).resolve().parent
    search_path = [str(folder), *sys.path]
    missing = ((path, _missing(python, search_path)) for path, python in python_references(app))
    return tuple(Problem(0, 0, path, text, Reason.USER_CODE_FAILED) for path, text in missing if text)


def _missing(python: str, search_path: Sequence[str]) -> str:
    """The missing part of `package.module:name`; empty where nothing is missing, as far as the text shows."""
    module, _, name = python.partition(":")
    places: Sequence[str] | None = search_path
    parts = module.split(".")
    spec: ModuleSpec | None = None
    for number in range(1, len(parts) + 1):
        spec = None if places is None else PathFinder.find_spec(".".join(parts[:number]), places)
        if spec is None:
            known = ".".join(parts[: number - 1])
            lacks = (
                f"{known} has no module {parts[number - 1]}" if known else f"there is no module {parts[0]}"
            )
            return f"{lacks} on this machine; look whether the app's image holds it"
        places = spec.submodule_search_locations
    names = _names(spec)
    if names is None or name in names:
        return ""
    return f"{module} has no {name}{nearest(name, sorted(names))}"


def _names(spec: ModuleSpec | None) -> set[str] | None:
    """The names that a module defines or imports at top level; None where its text does not show them all."""
    if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
        return None
    try:
        tree = ast.parse(Path(spec.origin).read_bytes())
    except (OSError, SyntaxError, ValueError):
        return None
    names = set(_bound(tree.body))
    return None if names & {"*", "__getattr__"} else names


def _bound(body: Sequence[ast.stmt]) -> Iterator[str]:
    """The names that statements bind, in branches too."""
    for node in body:
        if isinstance(node, _FUNCTIONS):
            yield node.name
            continue
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from (alias.asname or alias.name.partition(".")[0] for alias in node.names)
            continue
        for inner in ast.iter_child_nodes(node):
            if isinstance(inner, ast.stmt):
                yield from _bound([inner])
            elif isinstance(inner, ast.ExceptHandler | ast.match_case):
                yield from _bound(inner.body)
            else:
                yield from (
                    each.id
                    for each in ast.walk(inner)
                    if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
                )
