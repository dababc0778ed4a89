"""The structure of the product, by its imports and definitions: modules, folders, and who imports whom."""

import ast
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from tests.harness.repository.checkout import REPOSITORY

ROOTS = {
    "streamapp": REPOSITORY / "streamapp",
    "streamapp_operator": REPOSITORY / "operator" / "streamapp_operator",
    "streamapp_runtime": REPOSITORY / "runtime" / "streamapp_runtime",
}


@dataclass(frozen=True)
class Structure:
    """Every module of the product, what it defines, and which modules it imports."""

    files: Mapping[str, Path]
    packages: frozenset[str]
    imports: Mapping[str, frozenset[str]]
    classes: Mapping[str, tuple[str, ...]]

    @property
    def modules(self) -> tuple[str, ...]:
        """All modules; packages apart."""
        return tuple(sorted(self.files.keys() - self.packages))

    def children(self, package: str) -> tuple[str, ...]:
        """The modules and packages directly inside a package."""
        depth = package.count(".") + 1
        return tuple(
            name for name in sorted(self.files) if name.startswith(package + ".") and name.count(".") == depth
        )

    def importers(self) -> Mapping[str, frozenset[str]]:
        """By module, who imports it."""
        found: dict[str, set[str]] = {name: set() for name in self.modules}
        for source, targets in self.imports.items():
            for target in targets:
                found.setdefault(target, set()).add(source)
        return {name: frozenset(sources) for name, sources in found.items()}

    def arrows(self, package: str) -> dict[str, set[str]]:
        """Between the children of a package: who imports whom, whatever lies inside them."""
        depth = package.count(".") + 2
        found: dict[str, set[str]] = {child: set() for child in self.children(package)}
        for source in self.imports:
            if source.startswith(package + "."):
                child = ".".join(source.split(".")[:depth])
                for target in self.imports[source]:
                    if target.startswith(package + "."):
                        found[child].add(".".join(target.split(".")[:depth]))
                found[child].discard(child)
        return found


def circle(arrows: Mapping[str, Iterable[str]]) -> list[str]:
    """One circle of a graph, or nothing."""
    try:
        TopologicalSorter(arrows).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


@cache
def structure() -> Structure:
    """The structure of this checkout."""
    files = {_name(root, base, path): path for root, base in ROOTS.items() for path in base.rglob("*.py")}
    packages = frozenset(name for name, path in files.items() if path.name == "__init__.py")
    trees = {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in files.items()}
    imports = {name: frozenset(_imported(tree, files) - {name}) for name, tree in trees.items()}
    classes = {
        name: tuple(node.name for node in tree.body if isinstance(node, ast.ClassDef))
        for name, tree in trees.items()
    }
    return Structure(files, packages, imports, classes)


def _name(root: str, base: Path, path: Path) -> str:
    parts = path.relative_to(base).with_suffix("").parts
    return ".".join([root, *(parts[:-1] if parts[-1] == "__init__" else parts)])


def _imported(tree: ast.Module, files: Mapping[str, Path]) -> set[str]:
    found: dict[str, None] = defaultdict()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                found[whole if whole in files else node.module] = None
        elif isinstance(node, ast.Import):
            found |= dict.fromkeys(alias.name for alias in node.names)
    return {name for name in found if name in files}
