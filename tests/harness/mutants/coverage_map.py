"""The tests that run each fault's text: by probes in it, since a tracer takes three times as long."""

import ast
import re
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from tests.harness.mutants.faults import Fault, product_modules
from tests.harness.mutants.mutant_tree import HITS, MutantTree, function_lines, probed

_NO_SUBJECTS: Final = frozenset({"py", "streamapp", "runtime", "operator", "test", "tests"})


def covering_tests(
    tree: MutantTree, faults: list[Fault], arguments: Iterable[str], environment: Mapping[str, str]
) -> dict[int, list[str]]:
    """By a fault's number, the tests that run its statement, first those that run the fewest others."""
    probes = probes_of(tree.folder, faults)
    texts = {path: tree.text(path) for path in probes}
    for path, statements in probes.items():
        tree.write(path, probed(texts[path], statements))
    try:
        with tempfile.TemporaryDirectory() as folder:
            tree.pytest(arguments, seconds=7_200, environment={**environment, HITS: folder})
            return read_hits(Path(folder))
    finally:
        for path, text in texts.items():
            tree.write(path, text)


def read_hits(folder: Path) -> dict[int, list[str]]:
    """What the probes of all processes have noted; a test that was cut off in its writing is passed over."""
    tests: defaultdict[int, set[str]] = defaultdict(set)
    for file in folder.iterdir():
        for line in file.read_text(encoding="utf-8").splitlines():
            number, _, test = line.partition(" ")
            node, _, phase = test.rpartition(" ")
            if phase in ("(call)", "(setup)") and "::" in node:
                tests[int(number)].add(node)
    breadth = Counter(test for covering in tests.values() for test in covering)
    return {
        number: sorted(covering, key=lambda test: (breadth[test], test)) for number, covering in tests.items()
    }


def shared_words(module: str, test: str) -> int:
    """The number of words that the path of a module shares with a test's path and name."""
    every = [frozenset(re.findall(r"[a-z]+", text.lower())) for text in (module, test)]
    return len(every[0] & every[1] - _NO_SUBJECTS)


def probes_of(root: Path, faults: list[Fault]) -> Mapping[str, Mapping[int, list[int]]]:
    """By path and line, the numbers of the faults that a probe before that line notes.

    A fault that acts at an import is covered by what runs functions of its module, or, where a module has no
    functions, by what runs functions of those that import it.
    """
    sources = dict(product_modules(root))
    probes: defaultdict[str, defaultdict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    for number, fault in enumerate(faults):
        if fault.function:
            probes[fault.path][fault.statement].append(number)
            continue
        modules = [fault.path] if function_lines(sources[fault.path]) else importers(sources, fault.path)
        for path in modules:
            for line in function_lines(sources[path]):
                probes[path][line].append(number)
    return probes


def importers(sources: Mapping[str, str], path: str) -> list[str]:
    """The modules that import a module."""
    dotted = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    name = dotted.removeprefix("operator.").removeprefix("runtime.")
    return [
        importer
        for importer, source in sources.items()
        if any(
            isinstance(node, ast.ImportFrom) and name in (node.module, f"{node.module}.{alias.name}")
            for node in ast.walk(ast.parse(source))
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        )
    ]
