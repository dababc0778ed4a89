"""The operators of an app over its edits: which ones it has had, and from and to which step."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from tests.oracle.cases.case import Case, Edit
from tests.oracle.cases.resource_reading import Part, edited, kind_of

_ENDLESS: Final = 2**40


@dataclass(frozen=True, slots=True)
class EditedOperators:
    """All operators that an app has had, and what each step has of them."""

    operators: Mapping[str, tuple[str, Part]]  # as they were first
    by_edit: tuple[tuple[int, Mapping[str, Part]], ...]  # from each step on

    @classmethod
    def of(cls, case: Case) -> "EditedOperators":
        """The operators of a case."""
        spec = case.spec
        versions = [(0, {one["name"]: kind_of(one) for one in spec["operators"]})]
        for number, step in enumerate(case.steps):
            if isinstance(step, Edit):
                spec = edited(spec, step.operator, step.kind, step.body)
                versions.append((number + 1, {one["name"]: kind_of(one) for one in spec["operators"]}))
        every: dict[str, tuple[str, Part]] = {}
        for _, operators in versions:
            every = {**operators, **every}
        bodies = [(at, {name: body for name, (_, body) in now.items()}) for at, now in versions]
        return cls(every, tuple(bodies))

    def versions(self, name: str) -> list[Part]:
        """What an operator has said, first to last."""
        return [bodies[name] for _, bodies in self.by_edit if name in bodies]

    def by_step(self, name: str, text: Callable[[Part], str]) -> str:
        """An expression as the step of each row has it."""
        texts = [(at, text(bodies[name])) for at, bodies in self.by_edit if name in bodies]
        newest = texts[-1][1]
        if all(one == newest for _, one in texts):
            return newest
        ends = (at for at, _ in texts[1:])
        cases = [f"WHEN _s < {end} THEN {one}" for end, (_, one) in zip(ends, texts[:-1], strict=True)]
        return f"CASE {' '.join(cases)} ELSE {newest} END"

    def during(self, name: str) -> str:
        """A condition that holds of rows that come while an operator is there."""
        steps = [at for at, bodies in self.by_edit if name in bodies]
        end = next((at for at, bodies in self.by_edit if at > steps[0] and name not in bodies), _ENDLESS)
        return f"_s >= {steps[0]} AND _s < {end}"
