"""The stores that `streamapp state gc` finds and takes away."""

import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click

from streamapp.author.names import checkpoint_stream
from streamapp.spec.problem import nearest
from streamapp_runtime.cli.log_access import cli_errors, has_log, open_log
from streamapp_runtime.stores.directories.owned_stores import read_owned_stores
from streamapp_runtime.stores.directories.state_directory import stored_apps
from streamapp_runtime.stores.directories.store_cleanup import UnownedStore, remove_store, unowned_stores


@dataclass(frozen=True, slots=True)
class CollectedStore:
    """A store that nobody owns, and what became of it."""

    store: UnownedStore
    done: str  # taken away, would be, in use

    @property
    def counts(self) -> bool:
        """True if the store's bytes are free, or would be."""
        return self.done != IN_USE

    def facts(self) -> dict[str, Any]:
        """For machines."""
        fields = asdict(self.store)
        return {
            "app": fields["application_id"],
            **{name: fields[name] for name in ("task", "table", "why", "size")},
            "done": self.done,
        }


TAKEN, WOULD_BE, IN_USE = "taken away", "would be taken away", "in use"


def collect_garbage(
    data: Path, root: Path, app: str | None, age: float, dry_run: bool
) -> Iterator[CollectedStore]:
    """Each store that nobody owns and nobody touched for so many seconds, once it was dealt with."""
    apps = sorted(stored_apps(root))
    if app is not None and app not in apps:
        raise click.BadParameter(f'no state of an app "{app}"{nearest(app, apps)}', param_hint="--app")
    now = time.time()
    for application_id in apps if app is None else [app]:
        owned = read_owned_stores(root, application_id)
        if (owned is None or owned.embedded) and not _lives(data, application_id):
            owned = None
        elif owned is None:
            continue  # nobody has said yet what it owns
        for store in unowned_stores(root, application_id, owned):
            if now - store.touched < age:
                continue
            if dry_run:
                yield CollectedStore(store, WOULD_BE)
            else:
                yield CollectedStore(store, TAKEN if remove_store(root, store) else IN_USE)


def _lives(data: Path, application_id: str) -> bool:
    """True if the app has checkpoints; of one on another system nothing says that it has none."""
    if not has_log(data):
        return True
    with cli_errors(), open_log(data) as system:
        return system.partitions(checkpoint_stream(application_id)) is not None
