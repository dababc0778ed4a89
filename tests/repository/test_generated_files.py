import pytest

from tests.harness.repository.generated_files import GENERATED, REPOSITORY


@pytest.mark.parametrize("path", sorted(GENERATED))
def test_a_generated_file_is_what_its_maker_writes_now(path: str) -> None:
    kept = (REPOSITORY / path).read_text(encoding="utf-8")
    assert kept == GENERATED[path](), f"{path} is out of date: run `make generate`"
