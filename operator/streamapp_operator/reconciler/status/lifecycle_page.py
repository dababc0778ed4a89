"""The reference page about the life of an app: phases, conditions, reasons, and what edits do."""

from collections.abc import Iterable, Iterator

from streamapp.spec.resource.config_keys import KEYS
from streamapp.spec.resource.field_marks import Effect
from streamapp.spec.schema.fields import parts
from streamapp_operator.reconciler.status.phase import PHASE_TEXTS, Phase
from streamapp_operator.reconciler.status.reason_texts import CONDITION_TEXTS, REASON_TEXTS

_EFFECTS = {
    Effect.NONE: "No running part reads it.",
    Effect.LIVE: "The driver continues. It gets the change with its job model, or only the operator acts.",
    Effect.RESTART: "The driver ends after its batch and the next one starts; plan, tasks and state stay.",
    Effect.REPLAN: "The app is planned again, then the driver is restarted with the new job model.",
    Effect.REFUSED: "Refused while there is state, with `Accepted=False`; the running generation continues.",
}


def page() -> str:
    """The whole page, as Markdown."""
    return "\n".join(
        [
            _HEAD,
            *_table(("Phase", "What it means"), ((f"`{row}`", f"{PHASE_TEXTS[row]}.") for row in Phase)),
            _CONDITIONS,
            *_table(
                ("Condition", "When it is true"),
                ((f"`{row}`", text) for row, text in CONDITION_TEXTS.items()),
            ),
            _REASONS,
            *_table(("Reason", "What it means"), ((f"`{row}`", text) for row, text in REASON_TEXTS.items())),
            _EDITS,
            *_table(("Effect", "What happens"), ((row.value, text) for row, text in _EFFECTS.items())),
            "",
            *_table(("Field", "Effect of a change"), _fields()),
            "",
        ]
    )


def _fields() -> Iterator[tuple[str, str]]:
    """Every field of the spec, and within its parts those whose effect is another."""
    above: dict[str, Effect | None] = {}
    for part in parts():
        for field in part.fields:
            if field.part:
                above[field.part] = field.effect
            if not field.path.startswith("spec."):
                continue
            if part.path == "spec" or field.effect is not above.get(part.path):
                yield f"`{field.path}`", field.effect.value if field.effect else "none"
    for key in KEYS.values():
        yield f"`{key.name}` in `spec.config`", key.effect.value


def _table(head: tuple[str, str], rows: Iterable[tuple[str, str]]) -> Iterator[str]:
    yield f"| {head[0]} | {head[1]} |"
    yield "| --- | --- |"
    yield from (f"| {name} | {text} |" for name, text in rows)


_HEAD = """# The life of an app

What `kubectl get sapp` and `streamapp status` say of an app, and what makes it change.

![Phases and how they follow each other](../pictures/app-life.svg)

A phase is for people; programs should use the conditions. Only the usual ways are drawn: an app can be
suspended, edited or deleted at any time, and a driver may fail in any phase that has one.
"""
_CONDITIONS = """
## Conditions

`status.observedGeneration` is the newest generation that was looked at, `status.acceptedGeneration` the one
that is to run. Where the newest is refused, `Stalled` is true while `Ready` still describes the running
generation; so `kubectl wait --for=condition=Accepted sapp/page-views` shows whether an edit was accepted, and
`--for=condition=Ready` whether the app works.

`kubectl get sapp` prints the status of `Ready` as READY, and `status.reason` as REASON: the reason of the
condition that matters most. The operator writes both when they change and does not renew them, so that they
are as old as its last change while it is down; `streamapp_operator_leading` and the renewal time of its Lease
say whether it runs.
"""
_REASONS = """
## Reasons

There are also the reasons of refusals: [the list of them](resource.md#reasons).
"""
_EDITS = """
## What an edit does

Fields within a part have the effect of the part, unless they are listed here themselves.
"""
