"""Parts of an app that were given wrong values, in words with Python's names for their fields."""

from pydantic import ValidationError
from pydantic.alias_generators import to_snake

from streamapp.spec.problem import nearest, short
from streamapp.spec.resource.base import Part
from streamapp.spec.validation.error_messages import error_message


def part_error(error: ValidationError) -> str:
    """The text of a part's errors, such as `EventTime: unknown argument "colum"; did you mean "column"?`."""
    part = _parts(Part).get(error.title)
    if part is None:
        return str(error)
    findings: list[str] = []
    for detail in error.errors(include_url=False):
        name = ".".join(to_snake(step) if isinstance(step, str) else str(step) for step in detail["loc"])
        if detail["type"] == "extra_forbidden" and len(detail["loc"]) == 1:
            suggestion = nearest(name, list(part.model_fields))
            findings.insert(0, f'unknown argument "{short(name)}"{suggestion}')
        else:
            findings.append(f"{name}: {error_message(detail, part)}")
    return f"{error.title}: {'; '.join(findings)}"


def _parts(base: type[Part]) -> dict[str, type[Part]]:
    """All kinds of parts by name."""
    parts = {base.__name__: base}
    for kind in base.__subclasses__():
        parts |= _parts(kind)
    return parts
