"""One reconcile: gather the facts, decide, and do it. Whoever is killed in between is followed by another."""

import asyncio
from typing import Literal

from streamapp_operator.carrying import Foreign, carry_out
from streamapp_operator.cluster.answers import Answer, RejectedError
from streamapp_operator.cluster.manifest import Manifest
from streamapp_operator.decide import decide
from streamapp_operator.facts.facts import Facts
from streamapp_operator.facts.gather import gather
from streamapp_operator.key import Key
from streamapp_operator.outcome import Again, Done, Outcome
from streamapp_operator.status.obstacle import with_obstacle
from streamapp_operator.telemetry.metrics import DECIDE_SECONDS
from streamapp_operator.telemetry.verdicts import count
from streamapp_operator.verdict import Verdict
from streamapp_operator.world import World

SOON = 0.2
OBSTACLE_SECONDS = 15.0
MANY = 2_000
"""Partitions from which on an app is a large one."""


async def reconcile(key: Key, world: World) -> Outcome:
    """Bring one app nearer to what is wanted of it.

    What the watches have seen is good enough to see that there is nothing to do. Whatever makes or takes
    away something is decided again from what the API server says itself.
    """
    facts = await gather(world, key, live=False)
    if facts is None:
        return Done()
    verdict = await _decided(facts, world)
    if verdict.before or verdict.after:
        facts = await gather(world, key, live=True)
        if facts is None:
            return Done()
        verdict = await _decided(facts, world)
    return await _done(facts, verdict, world)


async def _decided(facts: Facts, world: World) -> Verdict:
    """What takes long is thought over on a thread, so that the others and the Lease have their turn."""
    with world.measured.timed(DECIDE_SECONDS):
        if facts.partitions < MANY:
            return decide(facts, world.installation)
        return await asyncio.to_thread(decide, facts, world.installation)


async def _done(facts: Facts, verdict: Verdict, world: World) -> Outcome:
    obstacle = await _carried(facts, verdict, world)
    if obstacle is Answer.CONFLICT:
        return Again(SOON)
    if obstacle is not None:
        return Again(OBSTACLE_SECONDS)
    return Done() if verdict.again is None else Again(verdict.again)


async def _carried(
    facts: Facts, verdict: Verdict, world: World
) -> Literal[Answer.CONFLICT] | Foreign | RejectedError | None:
    """Write, say, write. The status is said from what was read; where that has changed, all is off."""
    cluster, app = world.cluster, facts.manifest
    try:
        if foreign := await carry_out(cluster, app, verdict.before):
            return await _told_of(facts, foreign, world)
    except RejectedError as error:
        return await _told_of(facts, error, world)
    said = await cluster.patch_status(app, verdict.status)
    if said is Answer.CONFLICT:
        return Answer.CONFLICT
    for event in verdict.events:
        await cluster.event(app, event.type, event.reason, event.message)
    try:
        if foreign := await carry_out(cluster, said, verdict.after):
            return await _told_of(facts, foreign, world, said)
    except RejectedError as error:
        return await _told_of(facts, error, world, said)
    count(world.measured, facts.status, verdict)
    return None


async def _told_of(
    facts: Facts, obstacle: Foreign | RejectedError, world: World, said: Manifest | None = None
) -> Foreign | RejectedError:
    """Say what stands in the way; the next reconcile tries again."""
    app = said or facts.manifest
    await world.cluster.patch_status(app, with_obstacle(app.get("status") or {}, obstacle, facts))
    return obstacle
