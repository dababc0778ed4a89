"""Writes XML elements as text; names and sentences are escaped here and nowhere else."""

from html import escape

from streamapp.plan.render.wording import legible


def attributes(**values: object) -> str:
    """Attributes as they stand in a tag. `class_` is class, `data_node` is data-node; None is left out."""
    return "".join(
        f' {name.rstrip("_").replace("_", "-")}="{_quoted(_number(value))}"'
        for name, value in values.items()
        if value is not None
    )


def element(tag: str, *children: str, **values: object) -> str:
    """An element with its children, which are markup."""
    start_tag = f"<{tag}{attributes(**values)}"
    return f"{start_tag}>{''.join(children)}</{tag}>" if children else f"{start_tag}/>"


def escaped_text(text: str) -> str:
    """A text as markup; characters that markup may not hold are made legible."""
    return escape(legible(text), quote=False)


def _quoted(text: str) -> str:
    return escaped_text(text).replace('"', "&quot;")


def _number(value: object) -> str:
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else str(value)
