"""Whatever an app does: where another value of an input's column changes an output's, lineage says so."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from streamapp.testing import TestApp
from streamapp_runtime.program.column_lineage import column_lineage
from tests.harness.core.app_resources import app_resource
from tests.harness.machine.random_cases import share

CODE = "tests.harness.user_code.operator_code"
TEXTS, NUMBERS = ["a", "b", "c"], [0, 1, 2, 3]
COLUMNS = {
    "views": {"user": "STRING", "page": "STRING", "n": "INT", "m": "INT"},
    "users": {"page": "STRING", "land": "STRING", "tier": "INT"},
}
KEYS = {"views": "user", "users": "page"}
Row = dict[str, Any]
Rows = dict[str, list[Row]]


@dataclass
class Growing:
    """Operators so far, the last one's name, and its columns by type."""

    operators: list[dict[str, Any]] = field(default_factory=list)
    last: str = "views"
    texts: list[str] = field(default_factory=lambda: ["user", "page"])
    numbers: list[str] = field(default_factory=lambda: ["n", "m"])

    def add(self, kind: str, **body: Any) -> None:
        name = f"o{len(self.operators)}"
        self.operators.append({"name": name, kind: {"from": self.last, **body}})
        self.last = name


@st.composite
def resources(draw: st.DrawFn) -> dict[str, Any]:
    growing = Growing()
    for _ in range(draw(st.integers(1, 5))):
        draw(st.sampled_from([_map, _filter, _look_up, _total, _python]))(draw, growing)
    growing.add("sendTo", stream="out")
    streams = [
        {
            "name": name,
            "key": KEYS[name],
            "columns": ", ".join(f"{column} {kind}" for column, kind in columns.items()),
        }
        for name, columns in COLUMNS.items()
    ]
    table = {"name": "users", "broadcast": True, "sideInputs": [{"stream": "users"}]}
    return app_resource(growing.operators, [*streams, {"name": "out"}], [table])


def _text(draw: st.DrawFn, growing: Growing) -> str:
    text, number = draw(st.sampled_from(growing.texts)), draw(st.sampled_from(growing.numbers))
    forms = [text, "'a'", f"CASE WHEN {number} > 1 THEN {text} ELSE 'c' END", f"coalesce({text}, 'b')"]
    return draw(st.sampled_from(forms))


def _number(draw: st.DrawFn, growing: Growing) -> str:
    text, number = draw(st.sampled_from(growing.texts)), draw(st.sampled_from(growing.numbers))
    other = draw(st.sampled_from(growing.numbers))
    return draw(
        st.sampled_from([number, f"{number} + {other}", "1", f"CASE WHEN {text} = 'a' THEN {other} END"])
    )


def _map(draw: st.DrawFn, growing: Growing) -> None:
    first = 10 * len(growing.operators)
    texts = {f"t{first + place}": _text(draw, growing) for place in range(draw(st.integers(1, 2)))}
    numbers = {f"n{first + place}": _number(draw, growing) for place in range(draw(st.integers(1, 2)))}
    entries = [f"{text} AS {name}" for name, text in (texts | numbers).items()]
    growing.add("map", select=", ".join(entries))
    growing.texts, growing.numbers = list(texts), list(numbers)


def _filter(draw: st.DrawFn, growing: Growing) -> None:
    text, number = draw(st.sampled_from(growing.texts)), draw(st.sampled_from(growing.numbers))
    growing.add("filter", where=draw(st.sampled_from([f"{text} <> 'b'", f"{number} > 0"])))


def _look_up(draw: st.DrawFn, growing: Growing) -> None:
    kept = [*growing.texts, *growing.numbers]
    first = 10 * len(growing.operators)
    texts, numbers = [f"t{first}"], [f"n{first}"]
    growing.add(
        "joinTable",
        table="users",
        key=draw(st.sampled_from(growing.texts)),
        type=draw(st.sampled_from(["inner", "left"])),
        select=", ".join([*kept, f"users.land AS {texts[0]}", f"users.tier AS {numbers[0]}"]),
    )
    growing.texts, growing.numbers = growing.texts + texts, growing.numbers + numbers


def _total(draw: st.DrawFn, growing: Growing) -> None:
    key = draw(st.sampled_from(growing.texts))
    first = 10 * len(growing.operators)
    growing.add("partitionBy", key=key)
    totals = {
        f"n{first}": f"sum({draw(st.sampled_from(growing.numbers))})",
        f"n{first + 1}": "count(*)",
    }
    growing.add("aggregate", aggregates=", ".join(f"{total} AS {name}" for name, total in totals.items()))
    growing.texts, growing.numbers = [key], list(totals)


def _python(draw: st.DrawFn, growing: Growing) -> None:
    """The columns get the types that all numbers have here."""
    first = 10 * len(growing.operators)
    text, number = f"t{first}", f"n{first}"
    entries = (
        f"{draw(st.sampled_from(growing.texts))} AS {text}",
        f"CAST({draw(st.sampled_from(growing.numbers))} AS BIGINT) AS {number}",
    )
    growing.add("map", select=", ".join(entries))
    function = draw(st.sampled_from(["twice", "halved"]))
    growing.add("flatMap", python=f"{CODE}:{function}", columns=f"{text} STRING, {number} BIGINT")
    growing.texts, growing.numbers = [text], [number]


@st.composite
def rows(draw: st.DrawFn) -> Rows:
    values = {"STRING": st.sampled_from(TEXTS), "INT": st.sampled_from(NUMBERS)}
    return {
        stream: draw(
            st.lists(
                st.fixed_dictionaries({column: values[kind] for column, kind in columns.items()}),
                min_size=2,
                max_size=6,
            )
        )
        for stream, columns in COLUMNS.items()
    }


def run(resource: dict[str, Any], sent: Rows) -> tuple[list[Row], TestApp]:
    with TestApp(resource) as app:
        for stream in ("users", "views"):  # a table is there before what looks into it
            app.send(stream, sent[stream])
        return app.rows("out"), app


def with_other_values(sent: Rows, stream: str, column: str) -> Rows:
    """The rows with the next value in one column of one stream."""
    among = TEXTS if COLUMNS[stream][column] == "STRING" else NUMBERS
    after = dict(zip(among, [*among[1:], among[0]], strict=True))
    return sent | {stream: [row | {column: after[row[column]]} for row in sent[stream]]}


@settings(max_examples=share(0.15), deadline=None)
@given(resources(), rows())
def test_a_column_that_changes_an_output_is_among_the_origins_of_what_it_changes(
    resource: dict[str, Any], sent: Rows
) -> None:
    before, app = run(resource, sent)
    (lineage,) = column_lineage(app._program)
    for stream, columns in COLUMNS.items():
        for column in columns:
            after, _ = run(resource, with_other_values(sent, stream, column))
            for name, origins in lineage.columns.items():
                values, other_values = (Counter(row[name] for row in some) for some in (before, after))
                told = {(origin.stream, origin.column) for origin in origins | lineage.rows}
                assert values == other_values or (stream, column) in told, (name, stream, column)
