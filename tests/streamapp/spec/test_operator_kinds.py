"""The table of kinds beside what else is written down for each kind: the resource's fields, and the DSL."""

from typing import Any

import pytest
from pydantic.alias_generators import to_snake

from streamapp.dsl.stream_flow import Flow
from streamapp.spec.resource.base import Part
from streamapp.spec.resource.operator_kinds import (
    OPERATOR_TRAITS,
    OperatorKind,
    StreamUse,
    UndescribedKindError,
    require_rows,
)
from streamapp.spec.resource.operators import Operator
from streamapp.spec.validation.error_messages import model_in

KINDS = [OperatorKind(kind) for kind in Operator.kinds()]


def body_of(kind: OperatorKind) -> type[Part]:
    body: Any = model_in(Operator.model_fields[to_snake(kind)].annotation)
    return body


def test_every_kind_of_the_resource_has_a_row_and_so_have_the_streams_that_are_read() -> None:
    assert OPERATOR_TRAITS.keys() == {OperatorKind.INPUT, *KINDS} == set(OperatorKind)


def test_a_table_that_lacks_a_kind_or_has_one_too_many_fails_and_names_it() -> None:
    with pytest.raises(UndescribedKindError, match=r"TABLE and the kinds .* differ in dedupe, join$"):
        require_rows("TABLE", {"filter": 1, "dedupe": 2}, ["filter", "join"])


@pytest.mark.parametrize("kind", KINDS)
def test_a_row_says_what_the_fields_of_its_kind_say(kind: OperatorKind) -> None:
    traits, fields = OPERATOR_TRAITS[kind], body_of(kind).model_fields
    assert (traits.reads_tables or traits.writes_tables) == bool({"table", "tables"} & fields.keys())
    assert (traits.least_tables == 1) == ("table" in fields)
    assert (traits.stream is StreamUse.WRITES) == ("stream" in fields)
    assert traits.makes_stream == ("idle_timeout" in fields)
    assert traits.takes_select_or_python == ({"select", "python"} <= fields.keys())
    assert "source" in fields


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_a_method_of_a_flow_and_what_hands_nothing_on_gives_no_flow(kind: OperatorKind) -> None:
    method = getattr(Flow, to_snake(kind))
    assert (method.__annotations__["return"] is not None) == OPERATOR_TRAITS[kind].hands_on_rows
