"""Which expressions of an app made Spark necessary, by the fields of its resource."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from streamapp.spec.resource.app import StreamApp
from streamapp.spec.serialization import as_data

PIECES: Final = "pieces: "
"""What stands before names of compiled parts, which Spark computes rows for."""


def spark_reasons(app: StreamApp, texts: Sequence[str]) -> tuple[str, ...]:
    """Each field that Spark was asked about, with its text; else the part of an operator that it computes."""
    whole = [
        text for number, text in enumerate(texts) if not any(text in before for before in texts[:number])
    ]
    fields = [*_leaves(as_data(app)["spec"], "spec")]
    reasons = [f"{path}: {leaf}" for path, leaf in fields if leaf.strip() in whole]
    for piece in _pieces(texts):
        place = _place(app, piece)
        if not any(reason.startswith(f"{place}.") for reason in reasons):
            reasons.append(f"{place}: {piece}")
    return tuple(dict.fromkeys(reasons)) or tuple(f"spec: {text}" for text in texts)


def layer_reasons(app: StreamApp, pieces: Sequence[str], texts: Sequence[str]) -> tuple[str, ...]:
    """The fields of the parts that Spark computes rows for, of all texts that it was asked about."""
    if not pieces:
        return ()
    computed = {_place(app, piece) for piece in pieces}
    reasons = spark_reasons(app, [*texts, f"{PIECES}{', '.join(pieces)}"])
    return tuple(reason for reason in reasons if reason.partition("]")[0] + "]" in computed)


def _place(app: StreamApp, piece: str) -> str:
    """The operator that a compiled part is of, as a path."""
    names = [operator.name for operator in app.spec.operators]
    name = piece.partition("/")[0]
    return f"spec.operators[{names.index(name) if name in names else 0}]"


def _pieces(texts: Iterable[str]) -> Iterator[str]:
    for text in texts:
        if text.startswith(PIECES):
            yield from text.removeprefix(PIECES).split(", ")


def _leaves(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _leaves(inner, f"{path}.{name}")
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _leaves(inner, f"{path}[{number}]")
    elif isinstance(value, str):
        yield path, value
