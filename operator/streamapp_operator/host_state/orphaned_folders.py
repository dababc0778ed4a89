"""Selects state folders that belong to no app."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StateFolder:
    """The state folder of one app on this node."""

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
    """Folders that belong to no app and were not written for `after` seconds.

    An app keeps its folder for as long as the app exists, even while it is suspended. Folders of namespaces
    outside `namespaces` are kept, since their apps are not known; an empty `namespaces` means all of them.
    """
    for folder in folders:
        is_watched = not namespaces or folder.namespace in namespaces
        if (
            is_watched
            and (folder.namespace, folder.application_id) not in apps
            and now - folder.touched > after
        ):
            yield folder
