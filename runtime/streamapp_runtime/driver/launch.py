"""Everything that has to be known and made before the first batch: plan, tasks, streams, program, places."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from uuid import uuid4

from pyspark.sql import SparkSession

from streamapp.author.proposal import Proposal, World, propose
from streamapp.placement.place import place
from streamapp.spec.app import StreamApp
from streamapp.spec.problem import Problem
from streamapp.tasks.partition import Partition
from streamapp.tasks.refusal import Refusal
from streamapp.tasks.request import Assignment
from streamapp_runtime.driver.flow import Course
from streamapp_runtime.driver.home import Home
from streamapp_runtime.driver.ledger import Ledger
from streamapp_runtime.driver.making import make_changelogs, make_dead_letters, make_written
from streamapp_runtime.driver.reading import course, newest, read_topics, with_hops
from streamapp_runtime.driver.refused import RefusedError, problem
from streamapp_runtime.driver.unfit import path_of, unfit
from streamapp_runtime.driver.unfit_remotes import unfit_remotes
from streamapp_runtime.driver.unready import unready
from streamapp_runtime.lanes.setup import Setup
from streamapp_runtime.lanes.shelves import shelves
from streamapp_runtime.program.compiler import compile as compile_program
from streamapp_runtime.program.program import Program, PythonLayer
from streamapp_runtime.remote.settings import remotes
from streamapp_runtime.systems.system import System


@dataclass(frozen=True, slots=True)
class Launch:
    """An app that is ready to run."""

    app: StreamApp
    proposal: Proposal
    assignment: Assignment
    program: Program
    setup: Setup
    lanes: Mapping[str, tuple[str, ...]]  # processor -> tasks
    partitions: Mapping[str, tuple[Partition, ...]]  # task -> what it reads, hops too
    topics: Mapping[str, str]  # stream -> its name in the system
    course: Course
    shared: frozenset[Partition] = frozenset()  # what every task reads


def launch(
    app: StreamApp, home: Home, system: System, ledger: Ledger, session: SparkSession, processors: int
) -> Launch:
    """Plan, form tasks, compile, and make the streams that the app needs; RefusedError when it cannot run."""
    if problems := unready(app):
        raise RefusedError(problems)
    topics = {stream.name: stream.topic or stream.name for stream in app.spec.streams}
    counts = {name: system.partitions(topic) for name, topic in topics.items()}
    ledger.open(uuid4().hex)
    names = tuple(f"processor-{index}" for index in range(processors))
    world = World(counts, ledger.layout, ledger.run_id, processors=names)
    proposal = propose(app, world)
    if proposal.tasks is None:
        told = [
            Problem(0, 0, path_of(app, e.operator or ""), f"{e.message}; {e.hint}", e.reason)
            for e in proposal.plan.errors
        ]
        raise RefusedError(told, proposal)
    if isinstance(proposal.tasks, Refusal):
        raise RefusedError([problem(app, proposal.tasks)], proposal)
    program = compile_program(app, proposal.graph, proposal.plan, session)
    if isinstance(program, list):
        raise RefusedError(program, proposal)
    assignment = proposal.tasks
    tasks = [task for layer in program.layers if isinstance(layer, PythonLayer) for task in layer.tasks]
    avro = {stream.name: stream.avro_schema for stream in app.spec.streams if stream.avro_schema}
    if problems := [*unfit(app, tasks, avro), *unfit_remotes(app, program)]:
        raise RefusedError(problems, proposal)
    kept = shelves(app, program)
    written = make_written(app, proposal, tasks, system)
    dead_letters = make_dead_letters(app, topics, system)
    make_changelogs(kept.values(), assignment.layout.changelog, system)
    if not ledger.checkpoints:
        ledger.begin_at(newest(app, assignment, topics, system))
    ledger.remember(replace(assignment.layout, run=ledger.run_id))
    ledger.expect(names)
    placed = place(assignment.tasks, {}, dict.fromkeys(names), {})
    if isinstance(placed, Refusal):
        raise RefusedError([problem(app, placed)], proposal)
    setup = Setup(
        application_id=app.application_id,
        run_id=ledger.run_id,
        connection=home.connection,
        state=str(home.state),
        checkpoints=ledger.stream,
        partitions=written,
        shelves=kept,
        remotes=remotes(app, program),
        on_bad_record=app.spec.on_bad_record.action,
        dead_letters=dead_letters,
        avro=avro,
    )
    return Launch(
        app=app,
        proposal=proposal,
        assignment=assignment,
        program=program,
        setup=setup,
        lanes=placed.tasks_of(),
        partitions=with_hops(app, assignment, tasks, written),
        topics=topics | read_topics(tasks),
        course=course(app, proposal, tasks),
        shared=frozenset(assignment.broadcast),
    )
