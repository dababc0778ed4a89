"""Operators on tables: joinTable and sendToTable."""

from dataclasses import dataclass

from streamapp.spec.reasons import Reason
from streamapp.spec.resource.operators import JoinTable, SendToTable
from streamapp.spec.resource.tables import Table
from streamapp.spec.value_types.column_list import Column
from streamapp_runtime.program import operations as ops
from streamapp_runtime.program.expression import expression
from streamapp_runtime.program.finish import finish
from streamapp_runtime.program.fitting import fit
from streamapp_runtime.program.keys import MEND, Key
from streamapp_runtime.program.piece import Chain, Compiled, Flow, SqlPart
from streamapp_runtime.program.refusal import RefusedError
from streamapp_runtime.program.scope import Scope, Side
from streamapp_runtime.program.selection import condition, select
from streamapp_runtime.program.template import Template, all_columns, columns
from streamapp_runtime.program.within import within
from streamapp_runtime.program.world import World


def compile_join_table(body: JoinTable, name: str, flow: Flow, world: World) -> Compiled:
    """Look up each row's key, then take what is wanted of row and table."""
    table = world.table(body.table)
    scope = Scope((Side("", flow.columns), Side(table.name, world.table_columns[table.name])))
    with within("select"):
        chosen = select(world.spark, body.select or "*", scope)
    with within("key"):
        look_up = _key_to_look_up(body, table, flow, world)
    key = flow.key.renamed(chosen.kept(flow.columns))
    chain = Chain(name, flow)
    outputs = chosen.outputs
    if look_up.computed is not None:
        computed = look_up.computed.inside("CAST(CAST(", " AS STRING) AS BINARY)")
        part = SqlPart((*columns(len(flow.columns)), computed))
        given = (*flow.columns, Column(f"{name}/key", "BINARY"))
        chain = chain.then("look-up-key", part, given, flow.key)
        before = len(flow.columns)  # the table's columns now come one place later
        outputs = tuple(_shifted(output, before) for output in outputs)
        scope = Scope((Side("", given), scope.sides[1]))

    def operation(positions: tuple[int, ...]) -> ops.LookUp | ops.LookUpRemote:
        keeps = body.type == "left"
        place = len(flow.columns) if look_up.computed is not None else None
        kind = ops.LookUp if table.remote is None else ops.LookUpRemote
        return kind(table.name, keeps, place, positions)

    return finish(chain, operation, scope.columns, chosen.columns, outputs, key).done()


def compile_send_to_table(body: SendToTable, name: str, flow: Flow, world: World) -> Compiled:
    """Write rows under their keys, or delete what they name."""
    wanted = world.table_columns[body.table]
    with within("table"):
        outputs = fit(world.spark, flow.columns, wanted, f'table "{body.table}"')
        flow.key.demand_together(f'table "{body.table}"')
    chain = Chain(name, flow)
    if body.delete_where is not None or not all_columns(outputs):
        delete = None
        if body.delete_where is not None:
            with within("deleteWhere"):
                delete = condition(world.spark, body.delete_where, Scope((Side("", flow.columns),)))
        chain = chain.then("row", SqlPart(outputs, delete=delete), wanted, flow.key)
        outputs = columns(len(wanted))
    sent = ops.SendToTable(body.table, tuple(c for c in (o.column for o in outputs) if c is not None))
    return chain.then("", sent, (), flow.key).ended()


@dataclass(frozen=True, slots=True)
class _LookUpKey:
    """The key to compute; none where it is the row's own."""

    computed: Template | None


def _key_to_look_up(body: JoinTable, table: Table, flow: Flow, world: World) -> _LookUpKey:
    local = table.remote is None and not table.broadcast
    if body.key is None:
        if local:
            flow.key.demand_together(f'local table "{table.name}"')
        return _LookUpKey(None)
    key, _ = expression(world.spark, body.key, Scope((Side("", flow.columns),)))
    name = None if key.column is None else flow.columns[key.column].name
    if flow.key.is_column(name) and (flow.key.together or not local):
        return _LookUpKey(None)
    if local and not flow.key.places(name):
        raise RefusedError(
            f'table "{table.name}" is local: each task has the keys that rows were partitioned by, '
            f"which is {_told(flow.key)}; {MEND}",
            reason=Reason.INVALID_GRAPH,
        )
    return _LookUpKey(key)


def _told(key: Key) -> str:
    return f'"{key.placed_by}"' if key.placed_by else "no known column"


def _shifted(output: Template, after: int) -> Template:
    return Template(
        tuple(p + 1 if isinstance(p, int) and p >= after else p for p in output.pieces),
    )
