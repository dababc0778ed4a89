import pytest
from tests.harness.repository.notebooks import NOTEBOOK, with_outputs


@pytest.mark.usefixtures("process")
def test_the_notebook_of_the_docs_prints_in_a_kernel_what_is_checked_in() -> None:
    checked_in = NOTEBOOK.read_text(encoding="utf-8")
    assert with_outputs(NOTEBOOK) == checked_in, "the notebook is out of date: run `make generate`"
