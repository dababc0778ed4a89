"""Random histories of a stream: models, what their tasks say in each partition, and in which order."""

from hypothesis import strategies as st

from streamapp.control.control_message import Control
from tests.harness.core.control_messages import ends, says


@st.composite
def histories(draw: st.DrawFn, run: str = "r") -> list[Control]:
    """What one partition holds: words of one model after the other; late words of an old one among them."""
    words: list[Control] = []
    tasks = draw(st.lists(st.integers(1, 3), min_size=1, max_size=3))
    for newest in range(1, len(tasks) + 1):
        for _ in range(draw(st.integers(0, 8))):
            late = draw(st.integers(0, 9)) == 0
            model = max(1, newest - late)
            of = tasks[model - 1]
            task = f"t{draw(st.integers(0, of - 1))}"
            if draw(st.integers(0, 4)) == 0:
                words.append(ends(task, of=of, model=model, run=run))
            else:
                words.append(says(task, draw(st.integers(-5, 20)), of=of, model=model, run=run))
    return words


@st.composite
def streams(draw: st.DrawFn) -> tuple[list[list[Control]], list[int]]:
    """Histories of up to three partitions, and an order in which a reader takes from them."""
    partitions = draw(st.lists(histories(), min_size=1, max_size=3))
    turns = [index for index, history in enumerate(partitions) for _ in history]
    return partitions, draw(st.permutations(turns))
