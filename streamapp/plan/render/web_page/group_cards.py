"""The groups of a plan as cards beside the drawing. The page's script selects cards by node."""

from collections.abc import Mapping

from streamapp.plan.partition_plan import Plan, PlannedJoin, PlannedStream
from streamapp.plan.render.diagram.elements import Diagram
from streamapp.plan.render.diagram.error_highlights import deviating_streams
from streamapp.plan.render.drawing.markup import element, escaped_text
from streamapp.plan.render.wording import legible
from streamapp.spec.reasons import Reason

_SHOWN = 60  # streams on a card


def group_cards(plan: Plan, diagram: Diagram) -> str:
    """A card for every join, failing joins first: its group with the count of every stream and the reason."""
    joins = {join.operator: join for join in plan.joins}
    number_of = {diagram.nodes[number].name: number for number in diagram.groups}
    deviating_by_join = {
        error.operator: set(deviating_streams(error))
        for error in plan.errors
        if error.reason is Reason.JOIN_PARTITION_MISMATCH
    }
    join_order = sorted(joins, key=lambda name: (name not in deviating_by_join, name))
    cards = []
    for name in join_order:
        number = number_of[legible(name)]
        cards.append(
            _group(joins[name], number, diagram.groups[number], plan.streams, deviating_by_join.get(name))
        )
    advice = (
        "Point at a node to see its group: the streams that must have one partition count, and everything "
        "in between. Click to keep it."
    )
    return element(
        "aside",
        element("h2", "Groups"),
        element("p", advice, class_="advice"),
        '<p class="alone" hidden>In no group: no join constrains its partition count.</p>',
        *cards,
    )


def _group(
    join: PlannedJoin,
    number: int,
    members: frozenset[int],
    streams: Mapping[str, PlannedStream],
    deviating: set[str] | None,
) -> str:
    if join.partitions is not None:
        agreement = element("b", f"✓ {join.partitions}")
    else:
        agreement = element("b", "✗ differ" if deviating else "? not all counts known")
    rows = [
        element(
            "li",
            element("span", short_count(streams[name]), class_="count"),
            element(
                "span",
                element("code", escaped_text(name)),
                element("span", escaped_text(streams[name].because.sentence), class_="because"),
            ),
            class_="odd" if deviating and name in deviating else None,
        )
        for name in sorted(join.streams, key=lambda name: (name not in (deviating or ()), name))[:_SHOWN]
    ]
    more = len(join.streams) - _SHOWN
    return element(
        "section",
        element("h3", escaped_text(join.operator)),
        element("p", f"{join.kind} · partitions ", agreement, class_="what"),
        element("ul", *rows, class_="members"),
        element("p", f"and {more} more", class_="because") if more > 0 else "",
        class_="group failing" if deviating else "group",
        data_join=number,
        data_members=" ".join(map(str, sorted({number, *members}))),
    )


def short_count(stream: PlannedStream) -> str:
    """A stream's count as a short text."""
    count_text = "?" if stream.partitions is None else str(stream.partitions)
    return f"all {count_text}" if stream.broadcast else count_text
