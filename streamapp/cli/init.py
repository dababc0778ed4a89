"""`streamapp init`: the folder of a new app."""

import re
from pathlib import Path

import click

from streamapp.cli.documents.new_app import (
    DEFAULT_TABLE,
    DEFAULT_TEMPLATE,
    TABLE_TEMPLATE,
    TABLES,
    TEMPLATES,
    new_app_commands,
    new_app_files,
)


@click.command(short_help="Make the folder of a new app.")
@click.argument("name")
@click.option("--python", is_flag=True, help="Write the app as a Python program, not as YAML.")
@click.option(
    "--template",
    type=click.Choice(list(TEMPLATES)),
    help=f"What the app does.  [default: {DEFAULT_TEMPLATE}; {TABLE_TEMPLATE} with --to]",
)
@click.option(
    "--to",
    "table",
    type=click.Choice(list(TABLES)),
    help=f"What has the table of the template {TABLE_TEMPLATE}.  [default: {DEFAULT_TABLE}]",
)
def init(name: str, python: bool, template: str | None, table: str | None) -> None:
    """Make a folder NAME with a new app: the app, sample rows, a test, and settings for editors.

    The new app runs and passes its test right away. Nothing is overwritten: an existing folder
    has to be empty.

    \b
    Templates:
      join        page views, each with the country of its user
      windows     page views, counted per page and minute
      own-python  payments, and a user-defined class that reports cards
      table       orders, of which a table has the newest state

    \b
    Examples:
      streamapp init page-views
      streamapp init payments --python --template own-python
      streamapp init orders --to postgres
    """
    template = template or (DEFAULT_TEMPLATE if table is None else TABLE_TEMPLATE)
    if table is not None and template != TABLE_TEMPLATE:
        raise click.UsageError(f"--to is for --template {TABLE_TEMPLATE}; {template} writes streams")
    table = table or DEFAULT_TABLE
    _check_name(name)
    folder = Path(name)
    new_files = new_app_files(name, template, table, python=python)
    try:
        if folder.is_dir() and any(folder.iterdir()):
            raise click.UsageError(f"the folder {name} is there and not empty: choose another name")
        for path, text in new_files.items():
            file = folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            with file.open("x", encoding="utf-8") as new_file:
                new_file.write(text)
    except OSError as error:
        raise click.UsageError(f"cannot write {error.filename or folder}: {error.strerror}") from None
    click.echo(f"made {name} with {', '.join(path for path in new_files if '/' not in path)} and more\n")
    app = "app.py" if python else "app.yaml"
    for command in (f"cd {name}", f"streamapp dev {app}", "pytest", *new_app_commands(template, app, table)):
        click.echo(f"  {command}")


def _check_name(name: str) -> None:
    """Refuse an invalid name, with the nearest valid one."""
    from streamapp.spec.problem import short
    from streamapp.spec.value_types.scalars import APP_NAME, MEANING, MOST_APP_NAME

    if re.match(APP_NAME, name) and len(name) <= MOST_APP_NAME:
        return
    mended = re.sub(r"[^a-z0-9]+", "-", name.lower())[:MOST_APP_NAME].strip("-")
    hint = f", such as {mended}" if mended else ""
    meaning = f"{MEANING[APP_NAME]}, at most {MOST_APP_NAME} characters"
    raise click.BadParameter(
        f'"{short(name)}" is not a valid name of an app; write {meaning}{hint}', param_hint="NAME"
    )
