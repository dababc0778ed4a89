import pytest

from streamapp.tasks.groupers.statefulness import StoreTraits, is_stateful


@pytest.mark.parametrize(
    ("stores", "stateful"),
    [
        ([], False),
        ([StoreTraits(persistent=False, changelog=False)], False),
        ([StoreTraits(persistent=False, changelog=True)], True),
        ([StoreTraits(persistent=True, changelog=False)], True),
        (
            [StoreTraits(persistent=False, changelog=False), StoreTraits(persistent=True, changelog=True)],
            True,
        ),
    ],
)
def test_whatever_outlives_a_restart_is_state(stores: list[StoreTraits], stateful: bool) -> None:
    assert is_stateful(stores) is stateful
