"""Everything that has to be known and made before the first batch: plan, tasks, streams, program, places."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from uuid import uuid4

from pyspark.sql import SparkSession

from streamapp.author.proposal import Proposal, World, propose
from streamapp.placement.place import place
from streamapp.plan.plan import Role
from streamapp.spec.app import StreamApp
from streamapp.spec.problem import Problem
from streamapp.spec.reasons import Reason
from streamapp.tasks.partition import Partition
from streamapp.tasks.refusal import Refusal
from streamapp.tasks.request import Assignment
from streamapp_runtime.driver.flow import Course
from streamapp_runtime.driver.ledger import Ledger
from streamapp_runtime.driver.unfit import path_of, unfit
from streamapp_runtime.driver.unready import unready
from streamapp_runtime.lanes.dead_letters import DeadLetters
from streamapp_runtime.lanes.setup import Setup
from streamapp_runtime.lanes.shelves import shelves
from streamapp_runtime.program import operations
from streamapp_runtime.program.compiler import compile as compile_program
from streamapp_runtime.program.program import Program, PythonLayer, Task
from streamapp_runtime.systems.system import StreamOptions, System


class RefusedError(Exception):
    """The app cannot run as it is: the problems say why; trying again changes nothing."""

    def __init__(self, problems: list[Problem], proposal: Proposal | None = None) -> None:
        super().__init__("; ".join(str(problem) for problem in problems))
        self.problems = problems
        self.proposal = proposal


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
    app: StreamApp, system: System, data: Path, ledger: Ledger, session: SparkSession, processors: int
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
        raise RefusedError([_problem(app, proposal.tasks)], proposal)
    program = compile_program(app, proposal.graph, proposal.plan, session)
    if isinstance(program, list):
        raise RefusedError(program, proposal)
    assignment = proposal.tasks
    tasks = _tasks(program)
    avro = {stream.name: stream.avro_schema for stream in app.spec.streams if stream.avro_schema}
    if problems := unfit(app, tasks, avro):
        raise RefusedError(problems, proposal)
    kept = shelves(app, program)
    written = _made(app, proposal, tasks, topics, system)
    dead_letters = _dead_letters(app, topics, system)
    for shelf in kept.values():
        if shelf.changelog is not None:
            wanted = max(assignment.layout.changelog.values()) + 1
            there = system.partitions(shelf.changelog)
            if there is not None and there < wanted:
                system.grow(shelf.changelog, wanted)
            else:
                system.create(shelf.changelog, there or wanted, StreamOptions(compacted=True))
    if not ledger.checkpoints:
        ledger.begin_at(_newest(app, assignment, topics, system))
    ledger.remember(replace(assignment.layout, run=ledger.run_id))
    placed = place(assignment.tasks, {}, dict.fromkeys(names), {})
    if isinstance(placed, Refusal):
        raise RefusedError([_problem(app, placed)], proposal)
    reads = {t.operation.stream: t.operation.topic for t in tasks if isinstance(t.operation, operations.Read)}
    setup = Setup(
        application_id=app.application_id,
        run_id=ledger.run_id,
        log=str(data),
        state=str(data / "state"),
        checkpoints=ledger.stream,
        partitions=written,
        shelves=kept,
        on_bad_record=app.spec.on_bad_record.action,
        dead_letters=dead_letters,
        avro=avro,
        sync=any(one.embedded is not None and one.embedded.sync for one in app.spec.systems),
    )
    return Launch(
        app=app,
        proposal=proposal,
        assignment=assignment,
        program=program,
        setup=setup,
        lanes=placed.tasks_of(),
        partitions=_with_hops(app, assignment, tasks, reads, written),
        topics=topics | reads,
        course=_course(app, proposal, tasks),
        shared=frozenset(assignment.broadcast),
    )


def _problem(app: StreamApp, refusal: Refusal) -> Problem:
    return Problem(0, 0, path_of(app, refusal.path), f"{refusal.message}; {refusal.hint}", refusal.reason)


def _tasks(program: Program) -> list[Task]:
    return [task for layer in program.layers if isinstance(layer, PythonLayer) for task in layer.tasks]


def _made(
    app: StreamApp, proposal: Proposal, tasks: list[Task], topics: Mapping[str, str], system: System
) -> dict[str, int]:
    """Make the streams that the app writes and that are not there; how many partitions each has."""
    known = [stream.partitions for stream in proposal.plan.streams.values() if stream.partitions]
    found: dict[str, int] = {}
    for task in tasks:
        if not isinstance(task.operation, operations.Write):
            continue
        stream, topic = task.operation.stream, task.operation.topic
        planned = proposal.plan.streams.get(stream)  # of a hop the plan says nothing
        count = task.operation.partitions or (planned and planned.partitions) or max(known)
        there = system.partitions(topic)
        if there is None:
            system.create(topic, count)
        elif task.operation.partitions is not None and there != count:
            message = f'stream "{topic}" has {there} partitions and the plan needs {count}'
            raise RefusedError(
                [Problem(0, 0, path_of(app, task.name), f"{message}; raise resetNonce or remove the stream")]
            )
        found[stream] = there or count
    return found


def _dead_letters(app: StreamApp, topics: Mapping[str, str], system: System) -> DeadLetters | None:
    """The stream that takes bad records, made where it is not there."""
    name = app.spec.on_bad_record.stream
    if app.spec.on_bad_record.action != "deadLetter" or name is None:
        return None
    there = system.partitions(topics[name])
    if there is None:
        system.create(topics[name], 1)
    return DeadLetters(topics[name], there or 1)


def _newest(
    app: StreamApp, assignment: Assignment, topics: Mapping[str, str], system: System
) -> dict[Partition, int]:
    """The ends of the streams of which only what comes from now on is wanted."""
    names = {stream.name for stream in app.spec.streams if stream.start == "latest"}
    every = {p for task in assignment.tasks for p in assignment.partitions(task) if p.stream in names}
    asked = {Partition(topics[p.stream], p.index): p for p in every}
    return {asked[partition]: span.end for partition, span in system.spans(asked).items()}


def _with_hops(
    app: StreamApp,
    assignment: Assignment,
    tasks: list[Task],
    reads: Mapping[str, str],
    written: Mapping[str, int],
) -> dict[str, tuple[Partition, ...]]:
    """What each task reads; a hop's partition goes to the task that holds the table's keys of that number."""
    found = {task: list(assignment.partitions(task)) for task in assignment.tasks}
    owners = {p: task for task, partitions in assignment.tasks.items() for p in partitions}
    for task in tasks:
        operation = task.operation
        if isinstance(operation, operations.Read) and operation.role is operations.Role.HOP:
            count = written[operation.stream]
            if app.spec.grouper == "streamPartition":
                message = (
                    "not yet supported: rows come back to a table, and tasks by stream partition share none"
                )
                where = path_of(app, task.name)
                raise RefusedError([Problem(0, 0, where, message, Reason.NOT_YET_SUPPORTED)])
            like = next(p.stream for p in sorted(owners) if p.index == count - 1)
            for index in range(count):
                found[owners[Partition(like, index)]].append(Partition(operation.stream, index))
    return {task: tuple(sorted(p for p in parts if p.stream in reads)) for task, parts in found.items()}


def _course(app: StreamApp, proposal: Proposal, tasks: list[Task]) -> Course:
    depth = {source: place for place, stage in enumerate(proposal.plan.stages) for source in stage.sources}
    inner = [
        t.operation.stream
        for t in tasks
        if isinstance(t.operation, operations.Read)
        and t.operation.role in {operations.Role.INTERMEDIATE, operations.Role.BROADCAST, operations.Role.HOP}
    ]
    side = {s.stream for table in app.spec.tables for s in table.side_inputs}
    waited = {s.stream for table in app.spec.tables for s in table.side_inputs if s.bootstrap}
    roles = proposal.plan.streams
    only_side = frozenset(name for name in side if roles[name].role is Role.SIDE_INPUT)
    priority = sorted(inner, key=lambda name: -depth.get(name, len(depth)))
    return Course(tuple(priority), frozenset(waited) & only_side, only_side)
