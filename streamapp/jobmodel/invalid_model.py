"""The refusal of a job model that contradicts itself."""

from streamapp.spec.reasons import Reason


class InvalidJobModelError(ValueError):
    """Names everything that is wrong with a model at once, so that one look mends it."""

    reason = Reason.INVALID_JOB_MODEL

    def __init__(self, contradictions: tuple[str, ...]) -> None:
        self.contradictions = contradictions
        super().__init__("; ".join(contradictions))
