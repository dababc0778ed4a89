"""The pictures of a rejected plan, for the documentation.

The drawing is generated. `python -m tests.harness.repository.plan_picture` takes the picture of the page.
"""

from pathlib import Path

from click.testing import CliRunner

from streamapp.cli.main import root
from tests.harness.machine.chromium import chromium, opened

REPOSITORY = Path(__file__).parents[3]
PICTURE = REPOSITORY / "docs" / "pictures" / "plan-page.png"
EXAMPLE = REPOSITORY / "examples" / "mismatch"
MARGIN = 14


def _plan(form: str) -> str:
    command = ["plan", str(EXAMPLE / "app.yaml"), "--catalog", str(EXAMPLE / "topics.yaml"), "-o", form]
    return CliRunner().invoke(root, command).stdout


def drawing() -> str:
    """The plan as SVG."""
    return _plan("svg")


def take() -> None:
    """The upper part of the page, down to what is wrong."""
    with chromium() as browser, opened(browser, _plan("html")) as (page, _):
        errors = page.locator(".errors").bounding_box()
        assert errors is not None, "the plan of this example is rejected"
        down_to = errors["y"] + errors["height"] + MARGIN
        page.screenshot(path=PICTURE, clip={"x": 0, "y": 0, "width": 1400, "height": down_to})


if __name__ == "__main__":
    take()
