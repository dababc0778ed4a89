"""The stores on disk that an app owns, as its last start recorded them in a file beside the stores."""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from streamapp_runtime.stores.directories.state_directory import app_directory

OWNED_FILE = "owned.json"


@dataclass(frozen=True, slots=True)
class OwnedStores:
    """The stores of an app: those of its run, its tasks, and its tables and operators with state."""

    run_id: str
    tasks: frozenset[str]
    tables: frozenset[str]
    shared: frozenset[str] = frozenset()  # tables that are not kept task by task
    embedded: bool = True  # whether its checkpoints are in the log beside them

    def lacks(self, run_id: str | None, task: str, table: str) -> str:
        """Why a store is not the app's; empty where it is. A store without a run holds nothing yet."""
        if table not in self.tables:
            return "the app has no such table"
        if task not in self.tasks and table not in self.shared:
            return "the app has no such task"
        return "it is of an earlier run" if run_id not in {None, self.run_id} else ""


def write_owned_stores(root: Path, application_id: str, owned: OwnedStores) -> None:
    """Record what an app owns from now on. Several processes may write the record at once."""
    if read_owned_stores(root, application_id) == owned:
        return
    names = {name: sorted(getattr(owned, name)) for name in ("tasks", "tables", "shared")}
    document = asdict(owned) | names
    directory = app_directory(root, application_id)
    directory.mkdir(parents=True, exist_ok=True)
    fresh = directory / f"{OWNED_FILE}.{os.getpid()}.new"
    fresh.write_text(json.dumps(document, indent=2), "utf-8")
    fresh.replace(directory / OWNED_FILE)


def read_owned_stores(root: Path, application_id: str) -> OwnedStores | None:
    """The stores that an app owns; None where there is no record, or where the record cannot be read."""
    try:
        document = json.loads((app_directory(root, application_id) / OWNED_FILE).read_text("utf-8"))
        tasks, tables, shared = (frozenset(document[name]) for name in ("tasks", "tables", "shared"))
        return OwnedStores(document["run_id"], tasks, tables, shared, bool(document["embedded"]))
    except (OSError, ValueError, TypeError, KeyError):
        return None
