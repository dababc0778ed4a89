from tests.e2e.conftest import NewSpace
from tests.harness.cluster.app_namespace import LIMIT
from tests.harness.cluster.app_traffic import Traffic
from tests.harness.cluster.cluster_broker import grow
from tests.harness.cluster.kind_cluster import Cluster
from tests.harness.cluster.waiting import until


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
