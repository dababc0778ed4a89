import re

import pytest

from tests.harness.core.all_cases import all_cases
from tests.harness.repository.checkout import REPOSITORY, files


PAGES = [*sorted((REPOSITORY / "docs").rglob("*.md")), REPOSITORY / "CONTRIBUTING.md", REPOSITORY / "README.md"]
MODULE = re.compile(r"`((?:[a-z_0-9]+/)+[a-z_0-9]+\.py)`")
FOLDER = re.compile(r"`((?:streamapp|operator|runtime|tests|bench|examples)/(?:[a-z_0-9]+/)*)`")


def test_a_module_or_a_folder_that_a_page_names_is_there() -> None:
    modules = {"/" + str(path.relative_to(REPOSITORY)) for path in files("*.py")}
    with all_cases() as case:
        for page in PAGES:
            text = page.read_text(encoding="utf-8")
            with case(page.relative_to(REPOSITORY)):
                named = MODULE.findall(text)
                missing = [name for name in named if not any(path.endswith("/" + name) for path in modules)]
                missing += [name for name in FOLDER.findall(text) if not (REPOSITORY / name).is_dir()]
                assert missing == []
