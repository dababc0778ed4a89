"""Processors from a file: YAML or JSON, processor -> location, or a list of names; or a bare number."""

from pathlib import Path

from streamapp.cli.documents.catalog_file import CatalogError
from streamapp.spec.problem import Problem
from streamapp.spec.text.loader import load_documents
from streamapp.spec.validation.error_messages import describe_value

MOST_PROCESSORS = 100_000


def read_processors(path: Path) -> dict[str, str | None]:
    """The processors of a file with their locations, None where unknown."""
    loaded = load_documents(path.read_text(encoding="utf-8"))
    if loaded.problems:
        raise CatalogError(list(loaded.problems))
    data = loaded.documents[0].data if loaded.documents else None
    if isinstance(data, list) and all(isinstance(name, str) for name in data):
        return dict.fromkeys(data)
    if isinstance(data, dict) and all(isinstance(location, str | None) for location in data.values()):
        return dict(data)
    value_text = describe_value(data)
    raise CatalogError(
        [Problem(0, 0, "", f"found {value_text}; a list of processors, or processor -> location")]
    )
