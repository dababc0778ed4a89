"""The values of the chart with what their comments say, and the README that is made of them."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

CHART = Path(__file__).parents[3] / "charts" / "streamapp"
_COMMENT = re.compile(r"^ *# ?(?P<begins>-- )?(?P<text>.*)$")


@dataclass(frozen=True, slots=True)
class Value:
    """One value that has a comment of its own."""

    path: str
    about: str
    default: Any  # with all below it


def values(text: str) -> list[Value]:
    """All values in the order of the file; a ValueError names one of which nothing is said."""
    return list(_values(yaml.compose(text), yaml.safe_load(text), "", text.splitlines(), said=False))


def _values(node: yaml.Node | None, data: Any, path: str, lines: list[str], *, said: bool) -> Iterator[Value]:
    if not isinstance(node, yaml.MappingNode) or not node.value:
        if not said:
            raise ValueError(f"{path}: no comment says what it is for")
        return
    abouts = [_above(lines, key.start_mark.line) for key, _ in node.value]
    for about, (key, value) in zip(abouts, node.value, strict=True):
        here = f"{path}.{key.value}" if path else str(key.value)
        if about:
            yield Value(here, about, data[key.value])
        # What is said of a whole holds for its parts as long as none of them has a comment of its own.
        yield from _values(
            value, data[key.value], here, lines, said=bool(about) or (said and not any(abouts))
        )


def _above(lines: list[str], line: int) -> str:
    """What the comment right above a line says, if it begins with two dashes."""
    said: list[str] = []
    for above in reversed(lines[:line]):
        found = _COMMENT.match(above)
        if found is None:
            return ""
        said.insert(0, found["text"].strip())
        if found["begins"]:
            return " ".join(said)
    return ""


def readme() -> str:
    """The README of the chart."""
    found = values((CHART / "values.yaml").read_text(encoding="utf-8"))
    return "\n".join([*_HEAD, *(_row(value, found) for value in found), ""])


def _row(value: Value, found: list[Value]) -> str:
    """A value with others below it that have their own rows shows no default."""
    within = any(other.path.startswith(f"{value.path}.") for other in found)
    default = "" if within else f"`{json.dumps(value.default, ensure_ascii=False)}`"
    return f"| `{value.path}` | {default} | {value.about} |"


_HEAD = (
    "# The streamapp chart",
    "",
    "Installs the operator of StreamApps: the CustomResourceDefinition, the operator's Deployment, and the",
    "roles that it needs. `docs/guide/chart.md` shows it at work.",
    "",
    "```sh",
    "helm install streamapp charts/streamapp --namespace streamapp-system --create-namespace",
    "helm test streamapp --namespace streamapp-system --logs",
    "```",
    "",
    "The operator gives each app its own roles and accounts. A key that is not in this table is refused.",
    "",
    "| Value | Default | What it says |",
    "| --- | --- | --- |",
)
