"""The script, the style and the colours that all live pages have, by the names that the pages ask for."""

from importlib.resources import files
from typing import Final

SCRIPT_TYPE: Final = "text/javascript; charset=utf-8"
STYLE_TYPE: Final = "text/css; charset=utf-8"
SHARED_ASSETS: Final = {"live_page.js": SCRIPT_TYPE, "live_page.css": STYLE_TYPE}
"""The type of each file."""


def shared_asset(name: str) -> bytes:
    """What is in one of the files."""
    return files(__package__).joinpath("assets", name).read_bytes()
