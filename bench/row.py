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
class Compared:
    """What a figure is compared with: another one of the same unit."""

    name: str
    figure: float


@dataclass(frozen=True, slots=True)
class Row:
    """A figure, its unit, its aim where it has one, what it is compared with, and a remark."""

    name: str
    figure: float
    unit: str
    aim: Aim | None = None
    beside: str = ""
    compared: Compared | None = None

    @property
    def missed(self) -> bool:
        """Whether the figure is not as it should be."""
        return self.aim is not None and not self.aim.met_by(self.figure)

    @property
    def ratio(self) -> float | None:
        """How many times the figure is the one that it is compared with."""
        return self.figure / self.compared.figure if self.compared and self.compared.figure else None

    @property
    def remark(self) -> str:
        """What stands behind the figure."""
        if self.compared is None:
            return self.beside
        times = "" if self.ratio is None else f"{self.ratio:,.3g} times "
        comparison = f"{times}{self.compared.name} ({self.compared.figure:,.4g})"
        return f"{comparison}; {self.beside}" if self.beside else comparison
