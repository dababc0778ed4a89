"""One measured figure beside what it is compared with."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Aim:
    """What a figure should be: at least, at most, or between."""

    least: float | None = None
    most: float | None = None

    def met_by(self, figure: float) -> bool:
        """Whether a figure is as it should be."""
        return (self.least is None or figure >= self.least) and (self.most is None or figure <= self.most)

    def __str__(self) -> str:
        ends = (
            f">= {self.least:g}" if self.least is not None else "",
            f"<= {self.most:g}" if self.most is not None else "",
        )
        return ", ".join(end for end in ends if end)


@dataclass(frozen=True, slots=True)
class Row:
    """A figure, its unit, its aim where it has one, and what it stands beside."""

    name: str
    figure: float
    unit: str
    aim: Aim | None = None
    beside: str = ""

    @property
    def missed(self) -> bool:
        """Whether the figure is not as it should be."""
        return self.aim is not None and not self.aim.met_by(self.figure)
