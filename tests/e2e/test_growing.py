from tests.e2e.broker import grow
from tests.e2e.cluster import Cluster
from tests.e2e.conftest import NewSpace
from tests.e2e.space import LIMIT
from tests.e2e.traffic import Traffic
from tests.e2e.waiting import until


def test_a_joined_topic_that_doubles_is_taken_up_and_one_that_grows_by_half_is_refused(
    kind: Cluster, new_space: NewSpace
) -> None:
    space, traffic = new_space("growing"), Traffic("growing")
    traffic.begin(partitions=4)
    traffic.view()
    space.play("growing/01")
    until(traffic.wrong, LIMIT)

    grow(kind, traffic.topic("views"), 8)
    space.looks_like("growing/02-assert")
    assert space.events("growing", "PartitionsGrew") == ["views grew from 4 to 8 partitions"]
    traffic.view()
    until(traffic.wrong, LIMIT)

    grow(kind, traffic.topic("users"), 6)
    space.looks_like("growing/03-assert")
    assert len(space.events("growing", "ExpansionNotMultiple")) == 1
    traffic.view()
    until(traffic.wrong, LIMIT)
