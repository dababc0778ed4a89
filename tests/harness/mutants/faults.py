"""The small faults that can be planted into a module, and the choice of some of them by a seed."""

import ast
import random
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Final, NamedTuple

PRODUCT: Final = ("operator/streamapp_operator", "runtime/streamapp_runtime", "streamapp")
LOGGERS: Final = frozenset({"log", "logger", "logging", "warnings"})


class FaultKind(StrEnum):
    """The kinds of faults."""

    BOUNDARY = "a boundary moved by one"
    BRANCH = "a branch dropped"
    CALL = "a call left out"
    COMPARISON = "a comparison turned"
    CONSTANT = "a constant changed"
    SWAP = "two arguments swapped"


class Fault(NamedTuple):
    """One change of a module's text, between two offsets."""

    path: str
    line: int
    kind: FaultKind
    start: int
    end: int
    before: str
    after: str
    statement: int  # the line of the statement around it, before which a probe can stand
    function: str  # "" where the text acts when the module is imported

    @property
    def name(self) -> str:
        """The place and text of the fault, by which it is told from others."""
        return f"{self.path}:{self.line}: {self.kind}: {shortened(self.before)} -> {shortened(self.after)}"

    def planted(self, source: str) -> str:
        """The module's text with the fault."""
        return source[: self.start] + self.after + source[self.end :]


def shortened(text: str) -> str:
    """A text in one line of a readable length."""
    line = " ".join(text.split())
    return line if len(line) <= 60 else line[:57] + "..."


TURNED: Final[Mapping[type[ast.cmpop], str]] = {
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Lt: ">=",
    ast.LtE: ">",
    ast.Gt: "<=",
    ast.GtE: "<",
    ast.In: "not in",
    ast.NotIn: "in",
    ast.Is: "is not",
    ast.IsNot: "is",
}
MOVED: Final[Mapping[type[ast.cmpop], str]] = {ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">"}


class _FaultFinder(ast.NodeVisitor):
    """Walks over what runs: annotations, patterns, decorators, docstrings and log lines are passed over."""

    def __init__(self, path: str, source: str) -> None:
        self.faults: list[Fault] = []
        self._path = path
        self._source = source
        self._lines = source.splitlines(keepends=True)
        self._offsets = [0]
        for line in self._lines:
            self._offsets.append(self._offsets[-1] + len(line))
        self._functions: list[str] = []
        self._statements: list[int] = []

    def visit(self, node: ast.AST) -> None:
        is_statement = isinstance(node, ast.stmt)
        if isinstance(node, ast.stmt):
            text = self._lines[node.lineno - 1][node.col_offset :]
            self._statements.append(self._statements[-1] if text.startswith("elif") else node.lineno)
        super().visit(node)
        if is_statement:
            self._statements.pop()

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self._functions.append(node.name)
        self._visit_all(node.body)
        self._functions.pop()

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815 - the visitor's own names

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._visit_all(node.body)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Passed over: in Python 3.11 the parts of a formatted string have no positions of their own."""

    def visit_match_case(self, node: ast.match_case) -> None:
        self._visit_all(node.body)

    def visit_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Call) or _is_log_line(node.value):
            return
        self._add(node, FaultKind.CALL, "pass")
        self.generic_visit(node)

    def visit_If(self, node: ast.If) -> None:
        if isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            return
        self._add(node.test, FaultKind.BRANCH, "False")
        self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self._add(node.test, FaultKind.BRANCH, "False")
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        if len(node.ops) == 1:
            operator = type(node.ops[0])
            left, right = self._text(node.left), self._text(node.comparators[0])
            self._add(node, FaultKind.COMPARISON, f"(({left}) {TURNED[operator]} ({right}))")
            if operator in MOVED:
                self._add(node, FaultKind.BOUNDARY, f"(({left}) {MOVED[operator]} ({right}))")
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        if _is_log_line(node):
            return
        if len(node.args) > 1 and not any(isinstance(argument, ast.Starred) for argument in node.args[:2]):
            first, second = node.args[:2]
            between = self._source[self._span(first)[1] : self._span(second)[0]]
            if ast.dump(first) != ast.dump(second) and "(" not in between and ")" not in between:
                span = self._span(first)[0], self._span(second)[1]
                self._add_text(node, FaultKind.SWAP, span, self._text(second) + between + self._text(first))
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        value = node.value
        if isinstance(value, bool):
            self._add(node, FaultKind.CONSTANT, repr(not value))
        elif isinstance(value, int | float):
            self._add(node, FaultKind.CONSTANT, f"({value!r} + 1)")
        elif isinstance(value, str | bytes) and len(value.split()) == 1:  # no prose
            self._add(node, FaultKind.CONSTANT, repr(2 * value))

    def _visit_all(self, statements: list[ast.stmt]) -> None:
        for statement in statements:
            self.visit(statement)

    def _offset(self, line: int, column: int) -> int:
        text = self._lines[line - 1].encode()[:column].decode()
        return self._offsets[line - 1] + len(text)

    def _span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        end_line, end_column = node.end_lineno, node.end_col_offset
        assert end_line is not None
        assert end_column is not None
        return self._offset(node.lineno, node.col_offset), self._offset(end_line, end_column)

    def _text(self, node: ast.expr) -> str:
        start, end = self._span(node)
        return self._source[start:end]

    def _add(self, node: ast.expr | ast.stmt, kind: FaultKind, after: str) -> None:
        self._add_text(node, kind, self._span(node), after)

    def _add_text(
        self, node: ast.expr | ast.stmt, kind: FaultKind, span: tuple[int, int], after: str
    ) -> None:
        before = self._source[slice(*span)]
        self.faults.append(
            Fault(
                self._path,
                node.lineno,
                kind,
                *span,
                before,
                after,
                statement=self._statements[-1],
                function=".".join(self._functions),
            )
        )


def _is_log_line(call: ast.Call) -> bool:
    names = {part.id for part in ast.walk(call.func) if isinstance(part, ast.Name)}
    attributes = {part.attr.strip("_") for part in ast.walk(call.func) if isinstance(part, ast.Attribute)}
    return bool(LOGGERS & {name.strip("_") for name in names | attributes})


def faults_of(path: str, source: str) -> list[Fault]:
    """Every fault that can be planted into a module."""
    finder = _FaultFinder(path, source)
    finder.visit(ast.parse(source))
    return [fault for fault in finder.faults if fault.before != fault.after]


def product_modules(root: Path, rooms: Iterable[str] = PRODUCT) -> Iterator[tuple[str, str]]:
    """The path and text of every module of these rooms."""
    for room in rooms:
        for file in sorted((root / room).rglob("*.py")):
            yield str(file.relative_to(root)), file.read_text(encoding="utf-8")


def chosen_faults(root: Path, seed: int, count: int, rooms: Iterable[str] = PRODUCT) -> list[Fault]:
    """As many faults of these rooms, each module as likely as it is long."""
    modules = list(product_modules(root, rooms))
    weights = [len(source.splitlines()) for _, source in modules]
    choice = random.Random(seed)  # noqa: S311 - the same faults for the same seed
    by_module: dict[str, list[Fault]] = {}
    chosen: dict[str, Fault] = {}
    for _ in range(100 * count):
        if len(chosen) == count:
            break
        path, source = choice.choices(modules, weights)[0]
        if path not in by_module:
            by_module[path] = faults_of(path, source)
        if faults := by_module[path]:
            kind = choice.choice(sorted({fault.kind for fault in faults}))
            fault = choice.choice([fault for fault in faults if fault.kind == kind])
            chosen.setdefault(fault.name, fault)
    return list(chosen.values())
