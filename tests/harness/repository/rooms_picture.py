"""The rooms of the product as one picture: made of the import contracts and of what each folder holds."""

import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from xml.sax.saxutils import escape

from tests.harness.repository.checkout import REPOSITORY
from tests.harness.repository.structure import structure

WIDTH, MARGIN, GAP = 1180, 24, 10
ROOM, ROOM_GAP, HEAD = 34, 8, 34
TOP = ("streamapp", "streamapp_operator", "streamapp_runtime")
OPENED = (
    "streamapp_operator.controller",
    "streamapp_operator.reconciler",
    "streamapp_runtime.driver",
    "streamapp_runtime.lanes",
    "streamapp_runtime.operators",
)
"""The rooms that are drawn with the rooms inside them."""
STYLE = """
text { font: 13px ui-sans-serif, system-ui, sans-serif; fill: #1c2430 }
.title { font-weight: 600; font-size: 15px }
.number { font-size: 11px; fill: #5b6675 }
.box { fill: #f4f6f9; stroke: #c3ccd8 }
.room { fill: #ffffff; stroke: #8ea1b8 }
@media (prefers-color-scheme: dark) {
  text { fill: #e6ebf2 } .number { fill: #9aa7b8 }
  .box { fill: #1a212b; stroke: #3a4656 } .room { fill: #232c38; stroke: #5d6f86 }
}
"""


@dataclass(frozen=True)
class Building:
    """A package with its floors: each row of rooms imports only the rows below it."""

    name: str
    floors: tuple[tuple[str, ...], ...]

    @property
    def height(self) -> int:
        return HEAD + len(self.floors) * (ROOM + ROOM_GAP) + ROOM_GAP


def buildings() -> Iterator[Building]:
    """The packages that are drawn, with the layers of their contracts."""
    contracts = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["tool"]["importlinter"][
        "contracts"
    ]
    layers = {one["containers"][0]: one["layers"] for one in contracts if "containers" in one}
    layers["streamapp"] = next(
        [layer.replace("streamapp.", "") for layer in one["layers"]]
        for one in contracts
        if one["type"] == "layers" and "containers" not in one
    )
    for name in (*TOP[:1], TOP[1], *OPENED[:2], TOP[2], *OPENED[2:]):
        yield Building(name, tuple(tuple(_rooms(layer)) for layer in layers[name]))


def picture() -> str:
    """The picture, as SVG."""
    left, right = [], []
    for building in buildings():
        (right if building.name.startswith("streamapp_runtime") else left).append(building)
    column = (WIDTH - 2 * MARGIN - GAP) // 2
    height = 2 * MARGIN + max(sum(one.height + GAP for one in side) - GAP for side in (left, right))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img"'
        ' aria-label="The folders of the product by package, each row above those that it imports">',
        f"<style>{STYLE}</style>",
    ]
    for side, x in ((left, MARGIN), (right, MARGIN + column + GAP)):
        y = MARGIN
        for building in side:
            parts += _drawn(building, x, y, column)
            y += building.height + GAP
    return "\n".join([*parts, "</svg>", ""])


def _drawn(building: Building, x: int, y: int, width: int) -> Iterator[str]:
    yield f'<rect class="box" x="{x}" y="{y}" width="{width}" height="{building.height}" rx="6"/>'
    yield f'<text class="title" x="{x + 12}" y="{y + 23}">{escape(building.name)}</text>'
    for number, floor in enumerate(building.floors):
        top = y + HEAD + number * (ROOM + ROOM_GAP)
        room = (width - 24 - (len(floor) - 1) * ROOM_GAP) / len(floor)
        for index, name in enumerate(floor):
            at = x + 12 + index * (room + ROOM_GAP)
            whole = f"{building.name}.{name}"
            count = sum(module.startswith(whole + ".") or module == whole for module in structure().modules)
            yield f'<rect class="room" x="{at:.1f}" y="{top}" width="{room:.1f}" height="{ROOM}" rx="4"/>'
            yield f'<text x="{at + 9:.1f}" y="{top + 15}">{escape(name)}</text>'
            yield (
                f'<text class="number" x="{at + 9:.1f}" y="{top + 28}">'
                f"{count} module{'s' * (count != 1)}</text>"
            )


def _rooms(layer: str) -> Iterable[str]:
    return (name.strip() for name in layer.replace(":", "|").split("|"))
