"""The page on what outlives a process: the lists of the three packages as tables."""

from collections.abc import Iterator

from streamapp import durable_forms as app_forms
from streamapp.durable_forms import DurableForm
from streamapp_operator import operator_durable_forms as operator_forms
from streamapp_runtime import runtime_durable_forms as runtime_forms
from streamapp_runtime.checkpoint_entries import CHECKPOINT_ENTRIES

_HEAD = """# What outlives a process

Every form in which StreamApp keeps something beyond the life of a process: what there is to back up, who
reads it, and what a change of it has to think of.

- A reader takes every version from 1 to its own. It refuses a newer one, and says to use the version of
  StreamApp that wrote it.
- Checkpoints, the layout and the entries beside them are never guessed. Where one cannot be read, the app
  ends with exit code 1, and the message names stream, partition and fix: restore the checkpoint stream
  from a backup, or raise `resetNonce` to begin without state.
- A store that cannot be read is emptied and restored from its changelog. That needs time and loses nothing.
"""
_TITLES = {
    "Rules and messages (`streamapp/durable_forms.py`)": app_forms.DURABLE_FORMS,
    "Operator (`streamapp_operator/operator_durable_forms.py`)": operator_forms.DURABLE_FORMS,
    "Runtime (`streamapp_runtime/runtime_durable_forms.py`)": runtime_forms.DURABLE_FORMS,
}


def page() -> str:
    return "\n".join([_HEAD, *_tables(), *_entries()]) + "\n"


def _tables() -> Iterator[str]:
    for title, forms in _TITLES.items():
        yield f"## {title}\n"
        yield "| form | version | where it lies | who reads it | what a new version needs |"
        yield "| --- | --- | --- | --- | --- |"
        yield from map(_row, forms)
        yield ""


def _row(form: DurableForm) -> str:
    return f"| {form.name} | {form.version} | {form.place} | {form.readers} | {form.change} |"


def _entries() -> Iterator[str]:
    yield "## Keys of the checkpoint stream\n"
    yield "Checkpoints lie under the names of tasks. All other keys begin with a NUL, as no task does.\n"
    yield "| key | form | stays when `resetNonce` is raised |"
    yield "| --- | --- | --- |"
    for entry in CHECKPOINT_ENTRIES:
        stays = "yes" if entry.outlives_reset else "no"
        yield f"| `\\0{entry.key[1:].decode()}` | {entry.form.name} | {stays} |"
