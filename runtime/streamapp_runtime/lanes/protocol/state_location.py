"""Where a lane finds itself: lanes whose folder of state is the same folder are on one location."""

from contextlib import suppress
from pathlib import Path
from uuid import uuid4

LOCATION_FILE = "location"


def location_of(root: Path) -> str:
    """The name of the location that a folder of state makes; the first who asks gives it."""
    file = root / LOCATION_FILE
    with suppress(FileNotFoundError):
        if name := file.read_text("ascii"):
            return name
        file.unlink()  # a machine that stopped may leave a file without its text
    root.mkdir(parents=True, exist_ok=True)
    fresh = root / f"{LOCATION_FILE}.{uuid4().hex}"
    fresh.write_text(uuid4().hex, "ascii")
    with suppress(FileExistsError):
        file.hardlink_to(fresh)  # made whole, and by one of all who try
    fresh.unlink()
    return file.read_text("ascii")
