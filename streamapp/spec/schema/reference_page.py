"""The reference page of the resource, generated from the models, so that the page agrees with the checks."""

from collections.abc import Iterator

from streamapp.spec.reasons import Reason
from streamapp.spec.resource.config_keys import KEYS
from streamapp.spec.resource.field_marks import Effect
from streamapp.spec.resource.status import Status
from streamapp.spec.schema.fields import Field, PartFields, parts
from streamapp.spec.schema.reason_sentences import SENTENCES
from streamapp.spec.value_types.scalars import MEANING

_EFFECTS = {
    Effect.NONE: "nothing that runs looks at it",
    Effect.LIVE: "applied while the app runs",
    Effect.RESTART: "the driver restarts between two batches; plan and state stay",
    Effect.REPLAN: "the app is planned again; a new job model, then a restart",
    Effect.REFUSED: "cannot change while there is state",
}

_INTRODUCTION = """\
# The resource

Every field of a `StreamApp`. This page is written from the models that check the resource.

A path such as `spec.operators[].joinTable.table` is a field of each entry of a list. *Required* says that
the field has to be there. A list of named things is merged by `name` when it is applied to a cluster.
The limits marked *in a cluster* belong to the CustomResourceDefinition; the command does not have them.
"""

_CHANGES = """\
## What a change does

The column *A change* says what happens to a running app when the field changes. `—` means that a change
makes another app, or means nothing to StreamApp. `streamapp run` reads the resource once, at its start: the
column is what a change does to an app that runs in a cluster.
"""

_CONFIG = """\
## The keys of spec.config { #config-keys }

Settings that keep the names which the planner's users know from Apache Samza. Every value is a text: write
`"16"`, not `16`. A key that is not in this list is refused.
"""

_REASONS = """\
## Reasons

Whatever is refused is refused for one of these reasons. A reason's name never changes.
"""

_FORMS = """\
## Forms of text

What some fields call a text of a certain form.
"""


def reference_page() -> str:
    """The whole page, as Markdown."""
    legend = [_CHANGES, _table(("A change", "What happens"), _changes())]
    all_parts = (*parts(), *parts(Status, "status"))
    sections = [section for part in all_parts for section in _section(part)]
    appendix = [
        _CONFIG,
        _table(("Key", "Meaning", "Value", "Default", "A change"), _config()),
        _REASONS,
        _table(("Reason", "Meaning"), ((f"`{reason}`", SENTENCES[reason]) for reason in Reason)),
        _FORMS,
        _table(("Form", "What it is"), _forms()),
    ]
    return "\n".join([_INTRODUCTION, *legend, *sections, *appendix])


def _changes() -> Iterator[tuple[str, str]]:
    return ((effect.value, words) for effect, words in _EFFECTS.items())


def _section(part: PartFields) -> Iterator[str]:
    heading = f"## {part.path} {{ #{_anchor(part.path)} }}" if part.path else "## Top level"
    yield f"{heading}\n\n{_safe(part.says)}\n"
    yield _table(("Field", "Meaning", "Value", "Default", "A change"), map(_row, part.fields))


def _row(field: Field) -> tuple[str, ...]:
    value = f"[{field.allowed}](#{_anchor(field.part)})" if field.part else _with_forms(_safe(field.allowed))
    default = "*required*" if field.default is None else field.default
    name = f"`{field.name}`" if field.part else f"`{field.name}`{{ #{_anchor(field.path)} }}"
    return name, _safe(field.says), value, default, field.effect.value if field.effect else "—"


def _config() -> Iterator[tuple[str, ...]]:
    for key in KEYS.values():
        yield f"`{key.name}`", _safe(key.says), _safe(key.allowed), _safe(key.default), key.effect.value


def _forms() -> Iterator[tuple[str, str]]:
    for meaning in MEANING.values():
        form, colon, words = meaning.partition(": ")
        if colon:
            yield form, _safe(words)


def _with_forms(text: str) -> str:
    """The text with each long form replaced by its name; the table at the end explains the forms."""
    for meaning in MEANING.values():
        form, colon, _ = meaning.partition(": ")
        if colon:
            text = text.replace(_safe(meaning), f"[{form}](#forms-of-text)")
    return text


def _anchor(path: str) -> str:
    return path.replace("[]", "")


def _table(head: tuple[str, ...], rows: Iterator[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def _safe(text: str) -> str:
    """Text with Markdown's marks escaped, except between backquotes."""
    pieces = text.split("`")
    for number in range(0, len(pieces), 2):
        for mark, escaped in (("<", "&lt;"), ("*", r"\*"), ("_", r"\_"), ("|", r"\|")):
            pieces[number] = pieces[number].replace(mark, escaped)
    return "`".join(pieces)
