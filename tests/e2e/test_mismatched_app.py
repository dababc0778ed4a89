"""An app that cannot work is told so before anything of it runs, and an edit mends it."""

from tests.e2e.conftest import NewSpace
from tests.harness.cluster.app_namespace import LIMIT
from tests.harness.cluster.app_traffic import BROKER, Traffic
from tests.harness.cluster.waiting import until
from tests.harness.kafka.topic_records import create


def test_a_join_of_four_and_six_partitions_is_refused_with_both_streams_and_mended_by_an_edit(
    new_space: NewSpace,
) -> None:
    space, traffic = new_space("mismatch"), Traffic("mismatch")
    traffic.begin(partitions=4)
    create(BROKER, {traffic.topic("six-users"): 6})

    space.play("mismatch/01", limit=120)
    said = space.condition("mismatch", "Planned")["message"]
    assert all(word in said for word in ("views", "4", "six-users", "6"))
    assert space.names("pods") == []

    traffic.view()
    space.play("mismatch/02")
    until(traffic.wrong, LIMIT)
