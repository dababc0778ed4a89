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


@dataclass(frozen=True, slots=True)
class NewTable:
    """The system of the tables that a new app writes, in both forms, and the command that shows one."""

    in_yaml: str
    in_python: str
    look: str


def _printed(imported: str, table: str) -> str:
    """The command that prints a table as JSON lines."""
    rows = f"{table}.to_pandas().to_json(orient='records', lines=True)"
    return f'python -c "{imported}; print({rows}, end=str())"'


DEFAULT_TEMPLATE: Final = "join"
TABLE_TEMPLATE: Final = "table"
DEFAULT_TABLE: Final = "delta"
TABLES: Final[Mapping[str, NewTable]] = {
    "delta": NewTable(
        "    - {name: tables, delta: {path: lake, createIfMissing: true, commitInterval: 1s}}",
        'tables = app.delta("tables", path="lake", create_if_missing=True, commit_interval="1s")',
        _printed("from deltalake import DeltaTable", "DeltaTable('lake/orders')"),
    ),
    "iceberg": NewTable(
        """\
    - name: tables
      iceberg:
        namespace: shop
        config: {type: sql, uri: "sqlite:///catalog.db", warehouse: lake}
        createIfMissing: true
        commitInterval: 1s""",
        """\
tables = app.iceberg(
    "tables",
    namespace="shop",
    config={"type": "sql", "uri": "sqlite:///catalog.db", "warehouse": "lake"},
    create_if_missing=True,
    commit_interval="1s",
)""",
        _printed(
            "from pyiceberg.catalog import load_catalog",
            "load_catalog(type='sql', uri='sqlite:///catalog.db').load_table('shop.orders').scan()",
        ),
    ),
    "postgres": NewTable(
        """\
    # user and password: an entry each of a configSecret, or of a folder that a run is given by --secrets
    - name: tables
      postgres: {servers: "127.0.0.1:5432", database: shop, createIfMissing: true}""",
        """\
# user and password: an entry each of a config_secret, or of the folder of --secrets
tables = app.postgres(
    "tables", servers="127.0.0.1:5432", database="shop", create_if_missing=True
)""",
        "psql -h 127.0.0.1 -d shop -c 'TABLE orders'",
    ),
}
"""By kind of system."""
TEMPLATES: Mapping[str, AppTemplate] = {
    "join": AppTemplate("Page views, each with the country of its user.", ("users", "views"), "enriched"),
    "windows": AppTemplate("Page views, counted per page and minute.", ("views",), "per-minute"),
    "own-python": AppTemplate(
        "Payments, and a class of the app's own that reports cards.", ("payments",), "alerts"
    ),
    TABLE_TEMPLATE: AppTemplate("Orders, of which a table has the newest state.", ("changes",), "orders"),
}


def new_app_commands(template: str, app: str, table: str = DEFAULT_TABLE) -> tuple[str, ...]:
    """The commands to type to see the app at work."""
    new_app = TEMPLATES[template]
    look = TABLES[table].look if template == TABLE_TEMPLATE else f"streamapp log read {app} {new_app.output}"
    return (
        *(f"streamapp log write {app} {stream} sample/{stream}.jsonl" for stream in new_app.inputs),
        f"streamapp run {app} --until-end",
        look,
    )


def new_app_files(name: str, template: str, table: str = DEFAULT_TABLE, *, python: bool) -> Mapping[str, str]:
    """The files of a new app by their paths in its folder."""
    from importlib.resources import files

    from streamapp.spec.schema.editor_schema import editor_schema_text

    app = "app.py" if python else "app.yaml"
    values = {
        "name": name,
        "title": TEMPLATES[template].title,
        "app": app,
        "commands": "\n".join(new_app_commands(template, app, table)),
        "system_in_yaml": TABLES[table].in_yaml,
        "system_in_python": TABLES[table].in_python,
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
