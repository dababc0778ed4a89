import pytest

from streamapp.tasks.statefulness import Store, is_stateful


@pytest.mark.parametrize(
    ("stores", "stateful"),
    [
        ([], False),
        ([Store(persistent=False, changelog=False)], False),
        ([Store(persistent=False, changelog=True)], True),
        ([Store(persistent=True, changelog=False)], True),
        ([Store(persistent=False, changelog=False), Store(persistent=True, changelog=True)], True),
    ],
)
def test_whatever_outlives_a_restart_is_state(stores: list[Store], stateful: bool) -> None:
    assert is_stateful(stores) is stateful
