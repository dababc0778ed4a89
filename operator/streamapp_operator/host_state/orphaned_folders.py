"""Selects state folders that belong to no app, and says of which of them that is certain."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from streamapp.durable_forms import VersionRefusal
from streamapp_operator.host_state.folder_mark import FolderMark


@dataclass(frozen=True, slots=True)
class KnownApp:
    """An app of the cluster, as far as its folders are concerned."""

    namespace: str
    name: str
    uid: str
    application_id: str
    root: str  # the root of its hostPath state; empty for other kinds of volume

    @property
    def mark(self) -> FolderMark:
        """The mark of the app's folder."""
        return FolderMark(self.namespace, self.name, self.uid, self.application_id)


@dataclass(frozen=True, slots=True)
class StateFolder:
    """The state folder of one app on this node."""

    root: str
    namespace: str
    application_id: str
    touched: float  # seconds since 1970 of the last write in it
    mark: FolderMark | VersionRefusal | None  # None where there is none

    @property
    def path(self) -> str:
        """The path of the folder."""
        return f"{self.root.rstrip('/')}/{self.namespace}/{self.application_id}"


def marks_to_write(
    folders: Iterable[StateFolder], apps: Iterable[KnownApp]
) -> Iterator[tuple[StateFolder, FolderMark]]:
    """Folders of apps that keep their state in the folder's root, and whose mark does not name the app."""
    apps_by_folder = {(app.root, app.namespace, app.application_id): app for app in apps}
    for folder in folders:
        app = apps_by_folder.get((folder.root, folder.namespace, folder.application_id))
        if app is not None and folder.mark != app.mark:
            yield folder, app.mark


def orphaned_folders(
    folders: Iterable[StateFolder],
    apps: Collection[KnownApp],
    namespaces: Collection[str],
    now: float,
    after: float,
) -> Iterator[StateFolder]:
    """Folders that belong to no app and were not written for `after` seconds.

    An app keeps its folder for as long as the app exists, even while it is suspended. Folders of namespaces
    outside `namespaces` are kept, since their apps are not known; an empty `namespaces` means all of them.
    """
    identities = {(app.namespace, app.application_id) for app in apps}
    for folder in folders:
        is_watched = not namespaces or folder.namespace in namespaces
        has_app = (folder.namespace, folder.application_id) in identities
        if is_watched and not has_app and now - folder.touched > after:
            yield folder


def why_kept(folder: StateFolder, apps: Collection[KnownApp]) -> str:
    """Why an orphaned folder is left alone; empty where its mark is of an app that is gone."""
    mark = folder.mark
    if mark is None:
        return "it has no mark, so that nothing says whose it was"
    if isinstance(mark, VersionRefusal):
        return str(mark)
    if (mark.namespace, mark.application_id) != (folder.namespace, folder.application_id):
        return f"its mark is of {mark.namespace}/{mark.application_id}"
    if any(app.uid == mark.uid for app in apps):
        return f"the app {mark.name} of its mark is there, and names another applicationId"
    return ""
