"""What brokers keep calls from is trouble once it lasts, and none any more when nobody waits for it."""

from dataclasses import dataclass

from streamapp_runtime.systems.kafka.wire.requests.broker_trouble import BrokerTrouble


@dataclass(slots=True)
class Clock:
    now: float = 100.0

    def __call__(self) -> float:
        return self.now


def noted(clock: Clock, *times: float) -> BrokerTrouble:
    trouble = BrokerTrouble(clock)
    for at in times:
        clock.now = at
        trouble.note(f"noted at {at:g}")
    return trouble


def test_a_leader_that_moves_is_no_trouble() -> None:
    assert noted(Clock(), 100.0, 100.2, 101.6).lasting is None


def test_what_lasts_is_trouble_and_the_last_of_it_is_said() -> None:
    lasting = noted(Clock(), 100.0, 100.5, 102.0).lasting
    assert lasting is not None
    assert (lasting.text, lasting.noted) == ("noted at 102", 102.0)


def test_trouble_that_nobody_notes_any_more_is_over() -> None:
    clock = Clock()
    trouble = noted(clock, 100.0, 102.5)
    clock.now = 106.0
    assert trouble.lasting is None
    trouble.note("again")
    assert trouble.lasting is None, "what begins now has not lasted"
