"""A plan as JSON, for programs. Its form is an interface: fields are added, never renamed or removed.

```
version           1; raised when a field changes its meaning
app               the app's name
mode              "stream" | "batch"
outcome           "accepted" | "rejected"
streams           by name: {partitions, role, system, broadcast, because}
  partitions        a count, or null where nothing gives one
  role              "input" | "output" | "inputOutput" | "intermediate" | "sideInput"
  system            the system that has it; "" for one that has none yet
  broadcast         whether every task reads the whole of it, so that it constrains nothing
  because           why it has this count, as a sentence that follows the count
joins             [{operator, kind, streams, partitions}], by operator: what needs one partition count
  streams           the names of all streams of its group, sorted
  partitions        the count they agree on; null where they do not, or where one has none
errors            [{reason, operator, streams, message, hint}]; empty when accepted
  reason            a condition reason, such as "JoinPartitionMismatch"
  operator          the operator it is about, or null
  streams           by name: the count of each stream it is about, or null
  message, hint     the error, and how to fix it
stages            [{operators, sources, sinks}], in the order in which rows pass them
tables            by name: {remote, broadcast, sideInputs}
components        [[stream, …]]: streams that share one count, through however many joins
notes             sentences on how it runs, though nothing is wrong
broadcastInputs   as `task.broadcast.inputs` has it: "main.rates#[0-7]", or ""
```
"""

import json

from streamapp.durable_forms import PLAN_DOCUMENT
from streamapp.graph.nodes import Graph
from streamapp.plan.partition_plan import Plan, PlanError, PlannedJoin, PlannedStream


def render(name: str, graph: Graph, plan: Plan) -> str:
    """The document as indented JSON, ASCII only, in an order that equal plans share."""
    document = {
        "version": PLAN_DOCUMENT.version,
        "app": name,
        "mode": plan.mode,
        "outcome": plan.outcome,
        "streams": {stream.name: _stream(stream) for stream in plan.streams.values()},
        "joins": [_join(join) for join in plan.joins],
        "errors": [_error(error) for error in plan.errors],
        "stages": [
            {"operators": stage.operators, "sources": stage.sources, "sinks": stage.sinks}
            for stage in plan.stages
        ],
        "tables": {
            name: {"remote": table.remote, "broadcast": table.broadcast, "sideInputs": table.side_inputs}
            for name, table in sorted(graph.tables.items())
        },
        "components": plan.components,
        "notes": plan.notes,
        "broadcastInputs": plan.broadcast_inputs,
    }
    return json.dumps(document, indent=2) + "\n"


def _stream(stream: PlannedStream) -> dict[str, object]:
    return {
        "partitions": stream.partitions,
        "role": stream.role,
        "system": stream.system,
        "broadcast": stream.broadcast,
        "because": stream.because.sentence,
    }


def _join(join: PlannedJoin) -> dict[str, object]:
    return {
        "operator": join.operator,
        "kind": join.kind,
        "streams": join.streams,
        "partitions": join.partitions,
    }


def _error(error: PlanError) -> dict[str, object]:
    return {
        "reason": error.reason,
        "operator": error.operator,
        "streams": dict(error.streams),
        "message": error.message,
        "hint": error.hint,
        "path": error.path,
        "line": error.line,
    }
