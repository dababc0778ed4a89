"""Writing XML: elements as text, with every name and sentence escaped in one place."""

from xml.sax.saxutils import escape

from streamapp.plan.render.display_names import legible

_IN_QUOTES = {'"': "&quot;"}


def attributes(**given: object) -> str:
    """Attributes as they stand in a tag. `class_` is class, `data_node` is data-node; None is left out."""
    return "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escape(legible(_number(value)), _IN_QUOTES)}"'
        for name, value in given.items()
        if value is not None
    )


def element(tag: str, *inside: str, **given: object) -> str:
    """An element with what is inside it, which is markup already."""
    opened = f"<{tag}{attributes(**given)}"
    return f"{opened}>{''.join(inside)}</{tag}>" if inside else f"{opened}/>"


def escaped_text(text: str) -> str:
    """A text as markup shows it; what no markup may hold is made legible."""
    return escape(legible(text))


def _number(value: object) -> str:
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else str(value)
