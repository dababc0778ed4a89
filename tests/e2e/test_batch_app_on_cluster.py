from collections import Counter

from tests.e2e.conftest import NewSpace
from tests.harness.cluster.app_namespace import LIMIT
from tests.harness.cluster.app_traffic import BROKER, topics_anew
from tests.harness.cluster.waiting import until
from tests.harness.kafka.topic_records import committed, produce

VIEWS = [
    {"user": f"user-{n % 37}", "page": f"/{n * n % 11}", "country": ("de", "fr", "us")[n % 7 % 3]}
    for n in range(3_000)
]


def most_viewed() -> dict[str, int]:
    """Of each country, how often its most viewed page was viewed."""
    counted = Counter((view["page"], view["country"]) for view in VIEWS)
    return {country: max(n for (_, one), n in counted.items() if one == country) for _, country in counted}


def test_a_batch_app_with_two_repartitions_completes_and_leaves_what_it_was_told_to_leave(
    new_space: NewSpace,
) -> None:
    space = new_space("batch")
    topics_anew("batch", {"views": 4, "totals": 2})
    produce(BROKER, "batch.views", VIEWS, "user")

    space.play("batch/01")
    assert {row["country"]: row["views"] for row in committed(BROKER, "batch.totals")} == most_viewed()
    until(lambda: space.names("pods", "role=executor"), LIMIT)
    assert len(space.names("persistentvolumeclaims")) == 2

    space.edit("batch", ttlSecondsAfterFinished=0)
    until(lambda: space.names("pods"), LIMIT)
    space.looks_like("batch/02-assert")

    space.kubectl("delete", "streamapp", "batch")
    until(lambda: space.names("persistentvolumeclaims"), LIMIT)
