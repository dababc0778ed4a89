"""A catalog in a file: YAML or JSON, stream -> partitions; null for a stream that does not exist."""

from pathlib import Path

from streamapp.spec.problem import Problem
from streamapp.spec.text.loader import load_documents
from streamapp.spec.validation.error_messages import describe_value

MOST_STREAMS = 1_000_000


class CatalogError(Exception):
    """The file is no catalog; `problems` says why."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = problems


def read_catalog(path: Path) -> dict[str, int | None]:
    """The counts of the file, which may hold more streams than an app has."""
    loaded = load_documents(path.read_text(encoding="utf-8"))
    if loaded.problems:
        raise CatalogError(list(loaded.problems))
    if len(loaded.documents) != 1:
        document_count = len(loaded.documents)
        raise CatalogError([Problem(0, 0, "", f"found {document_count} documents; a catalog is one mapping")])
    document = loaded.documents[0]
    if not isinstance(document.data, dict):
        raise CatalogError(
            [Problem(0, 1, "", f"found {describe_value(document.data)}; a catalog maps streams to counts")]
        )
    count_problems = [
        Problem(
            0,
            document.lines.get((name,), 0),
            name,
            f"found {describe_value(count)}; allowed is 1 to {MOST_STREAMS} or null",
        )
        for name, count in document.data.items()
        if not (count is None or (type(count) is int and 1 <= count <= MOST_STREAMS))
    ]
    if count_problems:
        raise CatalogError(count_problems)
    return dict(document.data)
