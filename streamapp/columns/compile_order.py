"""In which order operators are compiled: after their sources, and after what gives a table its columns."""

from graphlib import CycleError, TopologicalSorter

from streamapp.spec.problem import Problem
from streamapp.spec.resource.app import Spec
from streamapp.spec.resource.operator_kinds import traits_of


def compile_order(spec: Spec, known_tables: frozenset[str]) -> tuple[list[int], list[Problem]]:
    """The operators by their numbers; or none, and the tables that have to declare their columns."""
    number_of = {operator.name: number for number, operator in enumerate(spec.operators)}
    senders: dict[str, list[int]] = {}
    for number, operator in enumerate(spec.operators):
        for table in operator.tables if traits_of(operator).fills_tables else ():
            if table not in known_tables:
                senders.setdefault(table, []).append(number)
    needs: dict[int, set[int]] = {}
    for number, operator in enumerate(spec.operators):
        needs[number] = {number_of[name] for name in operator.sources if name in number_of}
        for table in operator.tables:
            first = senders.get(table, [])[:1]
            needs[number] |= set(first) - {number}
    try:
        return list(TopologicalSorter(needs).static_order()), []
    except CycleError as error:
        return [], _undeclared(spec, senders, set(error.args[1]))


def tables_without_columns(spec: Spec) -> list[Problem]:
    """The tables that nothing gives columns: a user's class may write anything."""
    filled_tables = {table for o in spec.operators if traits_of(o).fills_tables for table in o.tables}
    message = "missing; no side input and no sendToTable says what the rows of this table are"
    return [
        Problem(0, 0, f"spec.tables[{index}].columns", message)
        for index, table in enumerate(spec.tables)
        if table.columns is None and not table.side_inputs and table.name not in filled_tables
    ]


def _undeclared(spec: Spec, senders: dict[str, list[int]], circle: set[int]) -> list[Problem]:
    return [
        Problem(
            0,
            0,
            f"spec.tables[{index}].columns",
            f'missing; "{table.name}" is filled with what is made from it, so only you can say its columns',
        )
        for index, table in enumerate(spec.tables)
        if circle & set(senders.get(table.name, []))
    ]
