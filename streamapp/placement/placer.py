"""Gives every task a processor: balanced, then the most on their location, then the most on their processor.

The work is done on kinds of tasks, not on tasks. In this order:

1. `shares`: how many tasks each processor carries. Only who gets the extras is open.
2. `census`: how many tasks have which home (recorded location that is still there) and which owner (previous
   processor that is still there).
3. `extras`, or `residue` where owners are away from homes: who gets the extras and how many tasks may come
   back to their owner from elsewhere. This fixes both counts of the result at their greatest.
4. `fill`: which task goes where, by name.

That no assignment does better is argued in `extras` and `residue`; the first count also has a closed form
(`optimum`), which the result carries beside what was reached.
"""

from collections.abc import Iterable, Mapping

from streamapp.placement.solver.displaced_tasks import decide_by_flow
from streamapp.placement.solver.extra_tasks import decide_by_worth
from streamapp.placement.solver.load_shares import share_out_tasks
from streamapp.placement.solver.locality_optimum import most_on_location
from streamapp.placement.solver.name_assignment import assign_names
from streamapp.placement.solver.task_classes import classify_tasks
from streamapp.placement.task_placement import PriorLocality, TaskPlacement
from streamapp.tasks.refusal import Refusal


def place_tasks(
    tasks: Iterable[str],
    task_locality: Mapping[str, str | None],
    processor_locality: Mapping[str, str | None],
    previous: Mapping[str, str] | None = None,
    *,
    capacity: Mapping[str, int] | None = None,
    limit: Mapping[str, int] | None = None,
) -> TaskPlacement | Refusal:
    """The best assignment; the order in which anything is given changes nothing.

    Locations that are None or UNKNOWN are not known. Loads follow `capacity` where it is given (relative,
    1 for who is not named) and never exceed `limit`. What is known of other tasks and processors is ignored.
    The answer refers to these mappings when it is asked why, so they should not change afterwards.
    """
    names = tuple(tasks)
    if len(frozenset(names)) < len(names):  # a task is placed once, however often it is named
        names = tuple(dict.fromkeys(names))
    before = PriorLocality(task_locality, processor_locality, previous or {})
    shares = share_out_tasks(len(names), sorted(processor_locality), capacity, limit)
    if isinstance(shares, Refusal):
        return shares
    census = classify_tasks(names, before.task_locality, before.processor_locality, before.previous)
    decision = (decide_by_flow if census.away else decide_by_worth)(census, shares)
    loads = {name: base + (name in decision.extras) for name, base in shares.base.items()}
    known = before.previous
    if census.had < len(known):  # it speaks of other tasks too
        known = {task: known[task] for task in names if task in known}
    filled = assign_names(known, census, decision, loads)
    return TaskPlacement(
        processor_of=filled.processor_of,
        loads=loads,
        on_location=filled.on_location,
        on_processor=filled.on_processor,
        location_moves=census.located - filled.on_location,
        processor_moves=census.had - filled.on_processor,
        most_on_location=most_on_location(census.sites, shares),
        before=before,
    )
