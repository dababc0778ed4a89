"""The notebook of the docs, run by a real kernel: `python -m` this writes its outputs again."""

import re
from pathlib import Path
from typing import Any

from tests.harness.repository.checkout import REPOSITORY

NOTEBOOK = REPOSITORY / "docs" / "guide" / "notebook.ipynb"


def executed(path: Path) -> Any:
    """The notebook with the outputs that it has now."""
    import nbformat  # takes 3 s, and every worker collects the test of notebooks
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    place = {"metadata": {"path": str(path.parent)}}
    NotebookClient(
        notebook, timeout=120, kernel_name="python3", record_timing=False, resources=place
    ).execute()
    return notebook


def with_outputs(path: Path) -> str:
    """The text of the notebook with the outputs that it has now, without what differs from run to run."""
    import nbformat

    notebook = executed(path)
    notebook.metadata["language_info"].pop("version", None)  # of the Python that runs it
    text = nbformat.writes(notebook).rstrip() + "\n"
    text = re.sub(r", [\d,]+ rows/s", "", text)  # of a run that took longer than a second
    return re.sub(r'[^" \\]*/ipykernel_\d+/\d+\.py', "cell", text)


def main() -> None:
    """Write the outputs again."""
    NOTEBOOK.write_text(with_outputs(NOTEBOOK), encoding="utf-8")


if __name__ == "__main__":
    main()
