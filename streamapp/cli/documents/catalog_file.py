"""A catalog in a file: YAML or JSON, stream -> partitions; null for a stream that does not exist."""

from pathlib import Path

from streamapp.spec.problem import Problem
from streamapp.spec.text.loader import load_documents
from streamapp.spec.validation.error_messages import describe_value

MOST_STREAMS = 1_000_000


class CatalogError(Exception):
    """The file is no catalog; the problems say why."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = problems


def read_catalog(path: Path) -> dict[str, int | None]:
    """The counts that the file tells. It may tell of more streams than an app has."""
    reading = load_documents(path.read_text(encoding="utf-8"))
    if reading.problems:
        raise CatalogError(list(reading.problems))
    if len(reading.documents) != 1:
        found = len(reading.documents)
        raise CatalogError([Problem(0, 0, "", f"found {found} documents; a catalog is one mapping")])
    document = reading.documents[0]
    if not isinstance(document.data, dict):
        raise CatalogError(
            [Problem(0, 1, "", f"found {describe_value(document.data)}; a catalog maps streams to counts")]
        )
    wrong = [
        Problem(
            0,
            document.lines.get((name,), 0),
            name,
            f"found {describe_value(count)}; allowed is 1 to {MOST_STREAMS} or null",
        )
        for name, count in document.data.items()
        if not (count is None or (type(count) is int and 1 <= count <= MOST_STREAMS))
    ]
    if wrong:
        raise CatalogError(wrong)
    return dict(document.data)
