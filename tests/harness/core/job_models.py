"""Job models for tests: a small one to take apart, arbitrary ones, and one of the size that must fit."""

from hashlib import sha256

from hypothesis import strategies as st

from streamapp.jobmodel.job_model import JobModel
from streamapp.jobmodel.task_model import TaskModel
from streamapp.tasks.partition import Partition


def small(version: int = 3) -> JobModel:
    return JobModel.of(
        version=version,
        run_id="run-1",
        application_id="shop.page-views",
        tasks=[
            TaskModel("Partition 0", (Partition("users", 0), Partition("views", 0)), 0),
            TaskModel("Partition 1", (Partition("views", 1),), 1),
            TaskModel("stateless", (Partition("clicks", 7),)),
        ],
        processors={"0": ["Partition 0", "stateless"], "1": ["Partition 1"], "2": []},
        broadcast=[Partition("rates", 0)],
    )


def large(tasks: int, processors: int) -> JobModel:
    """The worst there is in practice: balanced, but no owner can be foretold from another."""
    names = [f"Partition {number}" for number in range(tasks)]
    changelogs = {name: number for number, name in enumerate(sorted(names))}
    mixed = sorted(range(tasks), key=lambda number: sha256(b"%d" % number).digest())
    owned: dict[str, list[str]] = {f"{number}": [] for number in range(processors)}
    for place, number in enumerate(mixed):
        owned[f"{place % processors}"].append(names[number])
    return JobModel.of(
        version=7,
        run_id="run-1",
        application_id="shop.page-views",
        tasks=[
            TaskModel(name, (Partition("users", number), Partition("views", number)), changelogs[name])
            for number, name in enumerate(names)
        ],
        processors=owned,
    )


_NUMBERS = st.integers(0, 2**31 - 1) | st.integers(0, 12)
_NAMES = st.text(min_size=1, max_size=12) | st.builds("{} {}".format, st.sampled_from("Ab"), _NUMBERS)
_PARTITIONS = st.builds(Partition, st.text(min_size=1, max_size=5) | st.sampled_from("xy"), _NUMBERS)


@st.composite
def models(draw: st.DrawFn) -> JobModel:
    names = draw(st.lists(_NAMES, unique=True, max_size=8))
    owned = draw(st.lists(_PARTITIONS, unique=True, max_size=16))
    split = draw(st.integers(0, len(owned)))
    homes = [draw(st.integers(0, len(names) - 1)) if names else 0 for _ in owned[:split]]
    numbers = draw(st.lists(_NUMBERS, unique=True, min_size=len(names), max_size=len(names)))
    changelogs = [number if draw(st.booleans()) else None for number in numbers]
    tasks = [
        TaskModel(
            name,
            tuple(part for part, home in zip(owned, homes, strict=False) if home == row),
            changelogs[row],
        )
        for row, name in enumerate(names)
    ]
    processors = draw(st.lists(_NAMES, unique=True, min_size=1, max_size=4))
    assigned: dict[str, list[str]] = {processor: [] for processor in processors}
    for name in names:
        assigned[draw(st.sampled_from(processors))].append(name)
    return JobModel.of(
        version=draw(st.integers(0, 2**53 - 1)),
        run_id=draw(st.text(max_size=8)),
        application_id=draw(st.text(max_size=8)),
        tasks=tasks,
        processors=assigned,
        broadcast=owned[split:],
    )
