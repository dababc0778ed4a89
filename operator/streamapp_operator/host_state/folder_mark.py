"""The mark of an app's state folder: what says that the folder was an app's, and of which app."""

import json
from dataclasses import asdict, dataclass

from streamapp.durable_forms import VersionRefusal
from streamapp.spec.reasons import Reason
from streamapp_operator.operator_durable_forms import FOLDER_MARK


@dataclass(frozen=True, slots=True)
class FolderMark:
    """The app that a folder was last seen with."""

    namespace: str
    name: str
    uid: str
    application_id: str


def mark_text(mark: FolderMark) -> str:
    """A mark as its file has it."""
    return json.dumps({"format": FOLDER_MARK.version} | asdict(mark), sort_keys=True)


def read_mark_text(text: str) -> FolderMark | VersionRefusal:
    """The mark of a file, or why it is none."""
    try:
        fields = json.loads(text)
        version = FOLDER_MARK.read_version(fields["format"], "its mark")
        if isinstance(version, VersionRefusal):
            return version
        mark = FolderMark(**{name: fields[name] for name in FolderMark.__dataclass_fields__})
    except (ValueError, TypeError, KeyError):
        return VersionRefusal(Reason.DAMAGED_DATA, "its mark cannot be read")
    if not all(isinstance(value, str) and value for value in asdict(mark).values()):
        return VersionRefusal(Reason.DAMAGED_DATA, "its mark cannot be read")
    return mark
