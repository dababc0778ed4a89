"""The expressions of an app that only Spark reads, by the fields of its resource."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from streamapp.spec.resource.app import StreamApp
from streamapp.spec.serialization import as_data


def spark_reasons(app: StreamApp, texts: Sequence[str]) -> tuple[str, ...]:
    """Each field that Spark was asked about, with its text."""
    whole = [
        text for number, text in enumerate(texts) if not any(text in before for before in texts[:number])
    ]
    fields = [*_leaves(as_data(app)["spec"], "spec")]
    reasons = [f"{path}: {leaf}" for path, leaf in fields if leaf.strip() in whole]
    return tuple(dict.fromkeys(reasons)) or tuple(f"spec: {text}" for text in texts)


def _leaves(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _leaves(inner, f"{path}.{name}")
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _leaves(inner, f"{path}[{number}]")
    elif isinstance(value, str):
        yield path, value
