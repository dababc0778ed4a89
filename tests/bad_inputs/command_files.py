"""The files that the command lines of the table name."""

from pathlib import Path

APP = Path(__file__).with_name("app.yaml")
FILES = {
    "list.yaml": "[1, 2]",
    "text.yaml": "views: many",
    "broken.yaml": "a: [1",
    "raises.py": "1/0\n",
    "syntax.py": "app = (\n",
    "noapp.py": "x = 1\n",
    "broken.jsonl": '{"user": "a"}\n{"user": \n',
    "rows.jsonl": '{"user": "a"}\n',
    "rows.csv": "usr,page\na\n",
}


def write_command_files(folder: Path) -> None:
    """An app, a wrong one, and what else is named."""
    app = APP.read_text(encoding="utf-8")
    (folder / "app.yaml").write_text(app, encoding="utf-8")
    (folder / "wrong.yaml").write_text(app.replace("page NOT LIKE", "pgae NOT LIKE"), encoding="utf-8")
    for name, content in FILES.items():
        (folder / name).write_text(content, encoding="utf-8")
