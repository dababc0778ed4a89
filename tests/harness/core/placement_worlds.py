"""Random tasks and processors, with every corner: gone, unknown, moved, new, fewer tasks than processors."""

from dataclasses import dataclass, field, replace

from hypothesis import strategies as st

from streamapp.placement.locations.location_id import UNKNOWN
from streamapp.placement.placer import place_tasks
from streamapp.placement.task_placement import TaskPlacement


@dataclass(frozen=True, slots=True)
class World:
    tasks: tuple[str, ...]
    task_locality: dict[str, str | None]
    processor_locality: dict[str, str | None]
    previous: dict[str, str]
    stores: dict[str, dict[str, int]] = field(
        default_factory=dict
    )  # task -> location -> how far its store is

    def placed(self, **bounds: dict[str, int] | None) -> TaskPlacement:
        found = place_tasks(
            self.tasks,
            self.task_locality,
            self.processor_locality,
            self.previous,
            stores=self.stores,
            **bounds,
        )
        assert isinstance(found, TaskPlacement)
        return found


@st.composite
def worlds(draw: st.DrawFn, most_tasks: int = 16, most_processors: int = 7) -> World:
    processors = [f"p{n}" for n in range(draw(st.integers(1, most_processors)))]
    tasks = tuple(f"t{n:03d}" for n in range(draw(st.integers(1, most_tasks))))
    locations: list[str | None] = [f"l{n}" for n in range(draw(st.integers(1, 4)))]
    places = locations + [None, UNKNOWN] * draw(st.integers(0, 2))
    processor_locality = {name: draw(st.sampled_from(places)) for name in processors}
    owners = draw(st.lists(st.sampled_from([*processors, "gone"]), min_size=1, unique=True))
    settled = draw(st.sampled_from([0, 1, 3]))
    task_locality: dict[str, str | None] = {}
    previous: dict[str, str] = {}
    for task in tasks:
        owner = draw(st.sampled_from([None, *owners]))
        if owner is not None:
            previous[task] = owner
        home = processor_locality.get(owner or "")
        task_locality[task] = draw(st.sampled_from([*locations, "l-gone", None] + [home] * 4 * settled))
    return World(tasks, task_locality, processor_locality, previous)


MOST_POSITION = 9


@st.composite
def worlds_with_stores(draw: st.DrawFn, most_tasks: int = 16, most_processors: int = 7) -> World:
    """Worlds in which tasks have left stores at any location; some have none where they were last."""
    world = draw(worlds(most_tasks, most_processors))
    locations = [f"l{n}" for n in range(4)] + ["l-gone"]
    stores = {
        task: draw(st.dictionaries(st.sampled_from(locations), st.integers(0, MOST_POSITION), max_size=4))
        for task in world.tasks
        if draw(st.booleans())
    }
    return replace(world, stores=stores)
