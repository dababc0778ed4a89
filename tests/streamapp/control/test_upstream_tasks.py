from streamapp.control.upstream_tasks import reading_tasks, upstream_tasks
from streamapp.tasks.partition import Partition


def test_upstream_tasks_own_a_partition_of_a_source_that_reaches_the_stream() -> None:
    reaching = {"users": ("clicks", "views"), "pages": ("users",), "all": ("clicks",), "none": ("rates",)}
    assignment = {
        "t0": [Partition("views", 0), Partition("clicks", 0)],
        "t1": [Partition("views", 1), Partition("users", 0)],
        "t2": [Partition("users", 1)],
        "t3": [],
    }
    assert upstream_tasks(reaching, reading_tasks(assignment)) == {
        "users": ("t0", "t1"),
        "pages": ("t1", "t2"),
        "all": ("t0",),
        "none": (),
    }
