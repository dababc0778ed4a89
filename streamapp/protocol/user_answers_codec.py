"""What an app's own functions answered, as a part of the report, and back."""

from typing import Annotated, Final

from pydantic import Field

from streamapp.protocol.message_frame import MessageForm, MessageUnreadableError, damaged_message
from streamapp.protocol.packed_lists import pack_rows, unpack_rows
from streamapp.spec.app_bounds import MOST_PARTITIONS
from streamapp.tasks.groupers.first_owners import LONGEST_TASK_NAME
from streamapp.tasks.partition import Partition
from streamapp.tasks.user_answers import Growth, OwnFunctions, UserAnswers

_PART: Final = "report"
_MOST_STREAMS: Final = 1_000

PartitionCount = Annotated[int, Field(ge=0, le=MOST_PARTITIONS)]


class WrittenAnswers(MessageForm):
    """The answers as they are written."""

    grouper: str | None = Field(None, max_length=256)
    algorithm: str | None = Field(None, max_length=256)
    counts: dict[str, PartitionCount] = Field(default_factory=dict, max_length=_MOST_STREAMS)
    tasks: str = ""  # packed: partition to task
    initial_indexes: str = ""  # packed: current/initial/index to initial index


def written_answers(answers: UserAnswers) -> WrittenAnswers:
    """The written form."""
    tasks = {str(partition): (task,) for partition, task in answers.tasks.items()}
    indexes = {
        f"{current}/{initial}/{index}": (str(answer),)
        for (current, initial), answered in answers.initial_indexes.items()
        for index, answer in answered.items()
    }
    return WrittenAnswers(
        grouper=answers.functions.grouper,
        algorithm=answers.functions.algorithm,
        counts=dict(sorted(answers.counts.items())),
        tasks=pack_rows(tasks, 1) if tasks else "",
        initial_indexes=pack_rows(indexes, 1) if indexes else "",
    )


def answers_in(form: WrittenAnswers) -> UserAnswers:
    """What was written; a MessageUnreadableError where it is nothing like that."""
    tasks = unpack_rows(form.tasks, 1, MOST_PARTITIONS) if form.tasks else {}
    indexes = unpack_rows(form.initial_indexes, 1, MOST_PARTITIONS) if form.initial_indexes else {}
    initial_indexes: dict[Growth, dict[int, int]] = {}
    try:
        for name, (answer,) in indexes.items():
            current, initial, index = map(int, name.split("/"))
            initial_indexes.setdefault((current, initial), {})[index] = int(answer or "")
        task_of = {Partition.parse(name): task or "" for name, (task,) in tasks.items()}
    except ValueError as error:
        raise _damaged(str(error)) from None
    if any(not task or len(task) > LONGEST_TASK_NAME for task in task_of.values()):
        raise _damaged("a task without a name, or with one that is too long")
    return UserAnswers(OwnFunctions(form.grouper, form.algorithm), form.counts, task_of, initial_indexes)


def _damaged(what: str) -> MessageUnreadableError:
    return damaged_message(_PART, f"answers of the app's functions: {what}")
