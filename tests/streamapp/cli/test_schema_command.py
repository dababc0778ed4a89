import json
from collections.abc import Callable

from click.testing import Result

from tests.harness.repository.checkout import REPOSITORY


def test_the_schema_that_is_printed_is_the_published_one(run: Callable[..., Result]) -> None:
    printed = run("schema")
    assert printed.exit_code == 0
    assert printed.output == (REPOSITORY / "docs" / "reference" / "streamapp.schema.json").read_text("utf-8")
    assert json.loads(printed.output)["properties"].keys() >= {"apiVersion", "kind", "metadata", "spec"}
