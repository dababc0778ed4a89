"""Processors from a file: YAML or JSON, processor -> location, or a list of names; or a bare number."""

from pathlib import Path

from streamapp.catalog.file import CatalogError
from streamapp.spec.problem import Problem
from streamapp.spec.reading import read
from streamapp.spec.translation import shown

MOST = 100_000


def read_processors(path: Path) -> dict[str, str | None]:
    """The processors of a file with their locations, null where that is not known."""
    reading = read(path.read_text(encoding="utf-8"))
    if reading.problems:
        raise CatalogError(list(reading.problems))
    data = reading.documents[0].data if reading.documents else None
    if isinstance(data, list) and all(isinstance(name, str) for name in data):
        return dict.fromkeys(data)
    if isinstance(data, dict) and all(isinstance(place, str | None) for place in data.values()):
        return dict(data)
    found = shown(data)
    raise CatalogError([Problem(0, 0, "", f"found {found}; a list of processors, or processor -> location")])
