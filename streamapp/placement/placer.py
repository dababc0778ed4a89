"""Gives every task a processor: balanced loads, locality by location and processor, the least to restore.

The placement works on classes of tasks, not on single tasks, in this order:

1. `load_shares`: how many tasks each processor carries. Open is only which processors get the extra tasks.
2. `task_classes`: how many tasks have which home (recorded location that still has a processor) and which
   owner (previous processor that still exists).
3. `extra_tasks`, or `displaced_tasks` where owners are away from homes: which processors get the extra tasks
   and how many tasks may return to their owner from elsewhere. Both counts of the result are maximal.
4. `name_assignment`: which task goes where, by name.
5. `least_restore`, where stores lie at other locations too: which of the assignments that keep both counts
   has the least to restore.

The modules `extra_tasks` and `displaced_tasks` argue that no assignment does better. The first count also has
a closed form (`locality_optimum`), which the result carries beside the count that was reached.
"""

from collections import Counter
from collections.abc import Iterable, Mapping

from streamapp.placement.locations.store_history import StorePositions
from streamapp.placement.solver.displaced_tasks import decide_by_flow
from streamapp.placement.solver.extra_tasks import decide_by_worth
from streamapp.placement.solver.least_restore import RestoreFacts, with_least_restore
from streamapp.placement.solver.load_shares import share_out_tasks
from streamapp.placement.solver.locality_optimum import most_on_location
from streamapp.placement.solver.name_assignment import assign_names
from streamapp.placement.solver.task_classes import classify_tasks
from streamapp.placement.task_placement import PriorLocality, TaskPlacement
from streamapp.spec.reasons import Reason
from streamapp.tasks.refusal import Refusal


def place_tasks(
    tasks: Iterable[str],
    task_locality: Mapping[str, str | None],
    processor_locality: Mapping[str, str | None],
    previous: Mapping[str, str] | None = None,
    *,
    stores: StorePositions | None = None,
    capacity: Mapping[str, int] | None = None,
    limit: Mapping[str, int] | None = None,
) -> TaskPlacement | Refusal:
    """The best assignment; it does not depend on the order of the arguments' entries.

    A location of None or UNKNOWN is not known. Loads follow `capacity` (relative, 1 for a processor that it
    does not name) and never exceed `limit`. `stores` are all that is known to lie somewhere, those at the
    recorded locations too; without it, what a move restores does not count. Facts about other tasks and
    processors are ignored. The result refers to these mappings to explain itself, so the mappings should not
    change afterwards.
    """
    names = tuple(tasks)
    if len(frozenset(names)) < len(names):  # a task is placed once, however often it is named
        names = tuple(dict.fromkeys(names))
    if not names:
        return Refusal(
            Reason.NO_TASKS,
            "tasks",
            "there is no task to place",
            "give the app an input that is divided among tasks",
        )
    prior = PriorLocality(task_locality, processor_locality, previous or {}, stores or {})
    shares = share_out_tasks(len(names), sorted(processor_locality), capacity, limit)
    if isinstance(shares, Refusal):
        return shares
    task_classes = classify_tasks(names, prior.task_locality, prior.processor_locality, prior.previous)
    decision = (decide_by_flow if task_classes.owner_elsewhere else decide_by_worth)(task_classes, shares)
    loads = {name: base + (name in decision.extras) for name, base in shares.base.items()}
    owners = prior.previous
    if task_classes.with_owner < len(owners):  # the previous owners include those of other tasks
        owners = {task: owners[task] for task in names if task in owners}
    named_assignment = assign_names(owners, task_classes, decision, loads)
    processor_of = named_assignment.processor_of
    if prior.stores:
        facts = RestoreFacts(shares, task_locality, processor_locality, prior.previous, prior.stores)
        processor_of = with_least_restore(processor_of, facts)
        counts = Counter(processor_of.values())
        loads = {name: counts[name] for name in loads}
    return TaskPlacement(
        processor_of=processor_of,
        loads=loads,
        on_location=named_assignment.on_location,
        on_processor=named_assignment.on_processor,
        location_moves=task_classes.with_location - named_assignment.on_location,
        processor_moves=task_classes.with_owner - named_assignment.on_processor,
        most_on_location=most_on_location(task_classes.location_groups, shares),
        prior_locality=prior,
    )
