"""The forms of streamapp/ that outlive a process, and the rule for the versions of all such forms.

A reader takes the versions from 1 to its own, and refuses newer ones with what to do. Bytes without a version
are of version 1. `operator_durable_forms` and `runtime_durable_forms` list the others.
"""

from dataclasses import dataclass
from typing import Final

from streamapp.spec.reasons import Reason

UPGRADE_HINT = "use the version of streamapp that wrote it, or a later one"
"""What to do about bytes that a later program wrote."""


@dataclass(frozen=True, slots=True)
class VersionRefusal:
    """Why bytes of this version are not read, and how to fix it."""

    reason: Reason
    message: str
    hint: str = ""

    def __str__(self) -> str:
        return f"{self.message}; {self.hint}" if self.hint else self.message


@dataclass(frozen=True, slots=True)
class DurableForm:
    """A form in which something outlives a process, and what a change of it has to think of."""

    name: str
    version: int  # the one that is written; every version up to it is read
    place: str  # where it lies
    readers: str  # who reads it
    change: str  # what a new version needs, beside a reader of the old ones and golden bytes of its own
    number_name: str = "format"  # what the number is called in messages

    def version_within(self, number: object, what: str = "") -> int | VersionRefusal:
        """`read_version` of a document whose form began without a number: none stands for version 1."""
        return self.read_version(number, what) if type(number) is int else 1

    def read_version(self, number: object, what: str = "") -> int | VersionRefusal:
        """The version that bytes say they are of, or why this program does not read them."""
        called = what or f"the {self.name}"
        if type(number) is not int or number < 1:
            message = f"{called} cannot be read: its {self.number_name} is {number!r}"
            return VersionRefusal(Reason.DAMAGED_DATA, message)
        if number > self.version:
            known = (
                f"{self.number_name}s 1 to {self.version}" if self.version > 1 else f"{self.number_name} 1"
            )
            message = f"{called} is written in {self.number_name} {number}; this version reads {known}"
            return VersionRefusal(Reason.NEWER_FORMAT, message, UPGRADE_HINT)
        return number


_OPERATOR_FIRST = "The operator is upgraded first, and reads what older drivers write."

LAYOUT: Final = DurableForm(
    "layout",
    1,
    "checkpoint stream, under its own key; the wanted state; answers of `streamapp tasks` and `place`",
    "every start of a driver, the operator, `plan --live`, `state`",
    "Its checksum is made as in version 1, so that damage can be distinguished from a later version.",
)
JOB_MODEL: Final = DurableForm(
    "job model",
    1,
    "the wanted state, in the ConfigMap of the job model",
    "the driver, and the next operator",
    f"{_OPERATOR_FIRST} The frame stays, so that damage can be distinguished from a later version.",
)
PACKED_LIST: Final = DurableForm(
    "packed list",
    1,
    "locations and bindings within the messages",
    "the driver and the operator",
    "The message that holds it gets a new version as well.",
)
MESSAGE: Final = DurableForm(
    "message",
    1,
    "ConfigMaps of an app on a cluster (accepted, wanted, report), or files next to a driver",
    "the driver, the operator, `streamapp status`",
    f"Fields are added without one: readers pass over what they do not know. {_OPERATOR_FIRST}",
)
TERMINATION: Final = DurableForm(
    "termination message",
    1,
    "termination message of the driver's container",
    "the operator",
    f"It has no number: fields are added, and a missing one has its default. {_OPERATOR_FIRST}",
)
SILENT_DRIVER: Final = DurableForm(
    "word of a standby driver",
    1,
    "annotation of the report's ConfigMap",
    "the operator",
    f"It has no number: a value that names no two pods says nothing. {_OPERATOR_FIRST}",
)
METADATA_FILE: Final = DurableForm(
    "metadata file",
    1,
    "files of `streamapp.metadata`",
    "the program that wrote it",
    "The frame stays, so that damage can be distinguished from a later version.",
)
LOCALITY: Final = DurableForm(
    "locality",
    1,
    "ConfigMap of an app's locality; metadata files",
    "the operator",
    "A locality that cannot be read is empty locality: tasks move, and no data is lost.",
)
STORE_HISTORY: Final = DurableForm(
    "store history",
    1,
    "checkpoint stream, under its own key; the driver's report; ConfigMap of an app's locality",
    "the driver, and the operator for the next model",
    "A history that cannot be read is an empty one: stores are restored, and no data is lost.",
)
CONTROL_MESSAGE: Final = DurableForm(
    "control message",
    1,
    "intermediate streams, between the records of the user",
    "tasks that read the stream, in this app or another one",
    "Readers go first: apps that read the stream are replaced before the app that writes it.",
    "version",
)
BOOKKEEPING: Final = DurableForm(
    "bookkeeping",
    1,
    "checkpoints of apps with event time",
    "the lane of the task, the driver when partitions move",
    "Checkpoints hold it as a text, and keep their own version.",
)
SIDE_INPUT_VERSION: Final = DurableForm(
    "side-input version",
    1,
    "marks of the stores of versioned tables",
    "the lane that fills the table",
    "A store whose version cannot be read is rebuilt.",
)
PLAN_DOCUMENT: Final = DurableForm(
    "plan document",
    1,
    "output of `streamapp plan -o json`",
    "programs of users",
    "docs/reference/plan-json.md says what is new.",
    "version",
)
ANSWER_DOCUMENT: Final = DurableForm(
    "answer",
    1,
    "output of `streamapp tasks` and `place` with -o json",
    "`--previous` of both commands, programs of users",
    "docs/reference/tasks-and-place-json.md says what is new.",
    "version",
)

DURABLE_FORMS: Final = (
    LAYOUT,
    JOB_MODEL,
    PACKED_LIST,
    MESSAGE,
    TERMINATION,
    SILENT_DRIVER,
    METADATA_FILE,
    LOCALITY,
    STORE_HISTORY,
    CONTROL_MESSAGE,
    BOOKKEEPING,
    SIDE_INPUT_VERSION,
    PLAN_DOCUMENT,
    ANSWER_DOCUMENT,
)
