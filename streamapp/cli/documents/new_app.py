"""The files of a new app: what `streamapp init` writes, from the templates beside this module."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from string import Template
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

_SUFFIX: Final = ".tmpl"
_HIDDEN: Final = {"gitignore": ".gitignore", "vscode": ".vscode"}
"""Names that a tool could take for its own while they lie in the package."""


@dataclass(frozen=True, slots=True)
class AppTemplate:
    """A kind of new app: what it does, the streams it has samples for, and the stream to look at."""

    title: str
    inputs: Sequence[str]
    output: str


DEFAULT_TEMPLATE: Final = "join"
TEMPLATES: Mapping[str, AppTemplate] = {
    "join": AppTemplate("Page views, each with the country of its user.", ("users", "views"), "enriched"),
    "windows": AppTemplate("Page views, counted per page and minute.", ("views",), "per-minute"),
    "own-python": AppTemplate(
        "Payments, and a class of the app's own that reports cards.", ("payments",), "alerts"
    ),
}


def new_app_commands(template: str, app: str) -> tuple[str, ...]:
    """The commands to type to see the app at work."""
    new_app = TEMPLATES[template]
    return (
        *(f"streamapp log write {app} {stream} sample/{stream}.jsonl" for stream in new_app.inputs),
        f"streamapp run {app} --until-end",
        f"streamapp log read {app} {new_app.output}",
    )


def new_app_files(name: str, template: str, *, python: bool) -> Mapping[str, str]:
    """The files of a new app by their paths in its folder."""
    from importlib.resources import files

    from streamapp.spec.schema.editor_schema import editor_schema_text

    app = "app.py" if python else "app.yaml"
    values = {
        "name": name,
        "title": TEMPLATES[template].title,
        "app": app,
        "commands": "\n".join(new_app_commands(template, app)),
    }
    folder = files(__package__) / "templates"
    texts = {
        path: Template(text).substitute(values)
        for part in ("every", template)
        for path, text in _template_texts(folder / part)
    }
    other_form = "app.yaml" if python else "app.py"
    texts[".vscode/streamapp.schema.json"] = editor_schema_text()
    texts[f"test_{name.replace('-', '_')}.py"] = texts.pop("test_app.py")
    return {path: text for path, text in sorted(texts.items()) if path != other_form}


def _template_texts(folder: "Traversable", path: str = "") -> Iterator[tuple[str, str]]:
    for entry in folder.iterdir():
        name = entry.name.removesuffix(_SUFFIX)
        entry_path = path + _HIDDEN.get(name, name)
        if entry.is_dir():
            yield from _template_texts(entry, f"{entry_path}/")
        else:
            yield entry_path, entry.read_text(encoding="utf-8")
