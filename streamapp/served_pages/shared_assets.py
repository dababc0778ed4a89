"""The files that pages ask for by name: those that all live pages have, and those of one page."""

from collections.abc import Mapping
from importlib.resources import files
from typing import Final

SCRIPT_TYPE: Final = "text/javascript; charset=utf-8"
STYLE_TYPE: Final = "text/css; charset=utf-8"
Assets = Mapping[str, tuple[str, str]]
"""By the names that a page asks for: a file in the folder `assets` of a package, and its type."""
SHARED_ASSETS: Final[Assets] = {
    "live_page.js": ("live_page.js", SCRIPT_TYPE),
    "live_page.css": ("live_page.css", STYLE_TYPE),
}


def page_asset(name: str, package: str, assets: Assets) -> tuple[str, bytes] | None:
    """The type and the content of what a page calls `name`: one of its package's assets, or a shared one."""
    for owner, owned in ((package, assets), (__package__, SHARED_ASSETS)):
        if name in owned:
            file, kind = owned[name]
            return kind, files(owner).joinpath("assets", file).read_bytes()
    return None
