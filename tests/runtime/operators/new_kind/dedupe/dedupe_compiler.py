"""Dedupe operators: the rows are as they were."""

from streamapp_runtime.operators.dedupe.dedupe_operation import FirstOfKey

from streamapp.spec.resource.operators import Dedupe
from streamapp_runtime.operators.compilation.compile_context import CompileContext
from streamapp_runtime.operators.compilation.piece import CompiledOperator, PieceChain, RowFlow


def compile_dedupe(_: Dedupe, name: str, flows: tuple[RowFlow, ...], __: CompileContext) -> CompiledOperator:
    """Keep the first row of each key."""
    (flow,) = flows
    flow.key.demand_together("a dedupe")
    return PieceChain(name, flow).then("", FirstOfKey(name), flow.columns, flow.key).done()
