"""Which folders of state no app has any more."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StateFolder:
    """What one app has kept on this node."""

    namespace: str
    application_id: str
    path: str
    touched: float  # seconds since 1970 of the last write in it


def orphaned_folders(
    folders: Iterable[StateFolder],
    apps: Collection[tuple[str, str]],
    namespaces: Collection[str],
    now: float,
    after: float,
) -> Iterator[StateFolder]:
    """Folders of no app, untouched for so many seconds.

    An app has its folder for as long as it is there, however long it rests. Of namespaces whose apps are not
    known (none named: all are known) nothing is given up.
    """
    for folder in folders:
        known = not namespaces or folder.namespace in namespaces
        if known and (folder.namespace, folder.application_id) not in apps and now - folder.touched > after:
            yield folder
