import json
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamapp.jobmodel.unreadable_data import UnreadableError
from streamapp.placement.locations.store_history import (
    MOST_FORMER_PLACES,
    MOST_PLACES,
    StoreHistory,
    StorePlace,
)
from streamapp.protocol.driver_report import (
    DriverState,
    ExecutorBinding,
    Progress,
    Report,
    ReportedWarning,
    next_power_of_two,
)
from streamapp.protocol.message_frame import MOST_BYTES
from streamapp.protocol.report_codec import decode_report, encode_report
from streamapp.protocol.store_history_codec import pack_store_history, unpack_store_history
from streamapp.tasks.partition import Partition
from tests.harness.core.job_models import large, small
from tests.harness.core.random_layouts import LAYOUTS

NAMES = st.text(min_size=1, max_size=6)
COUNTS = st.integers(0, 2**40)
ENDS = st.dictionaries(NAMES, st.lists(COUNTS, min_size=1, max_size=4), max_size=3).map(
    lambda found: {Partition(name, at): end for name, ends in found.items() for at, end in enumerate(ends)}
)
PLACES = st.builds(StorePlace, st.text(max_size=4), COUNTS, COUNTS)
HISTORIES = st.builds(
    StoreHistory,
    st.dictionaries(
        NAMES, st.lists(PLACES, min_size=1, max_size=1 + MOST_FORMER_PLACES).map(tuple), max_size=4
    ),
)
REPORTS = st.builds(
    Report,
    state=st.sampled_from(DriverState),
    driver=NAMES,
    incarnation=COUNTS,
    spec_hash=NAMES,
    run_id=NAMES,
    model_version=COUNTS,
    binding=st.dictionaries(
        NAMES, st.builds(ExecutorBinding, st.none() | NAMES, st.text(max_size=3)), max_size=4
    ),
    moved=st.dictionaries(NAMES, NAMES, max_size=4),
    counts=st.dictionaries(NAMES, COUNTS, max_size=4),
    ends=ENDS,
    layout=st.none() | LAYOUTS,
    progress=st.builds(Progress, COUNTS, COUNTS),
    warnings=st.lists(st.builds(ReportedWarning, NAMES, NAMES, NAMES, COUNTS), max_size=3).map(tuple),
    stores=HISTORIES,
)


@given(REPORTS)
def test_whatever_is_reported_comes_over_as_it_was_sent(report: Report) -> None:
    assert decode_report(encode_report(report)) == report


@given(REPORTS)
def test_equal_reports_are_equal_texts_so_that_nothing_is_written_twice(report: Report) -> None:
    assert encode_report(decode_report(encode_report(report))) == encode_report(report)


def test_a_report_of_a_hundred_thousand_tasks_all_of_them_moved_fits_a_config_map() -> None:
    model = large(tasks=100_000, processors=1_000)
    others = {task.name: f"{int(sha256(task.name.encode()).hexdigest(), 16) % 1_000}" for task in model.tasks}
    seats = {name: ExecutorBinding(f"ip-10-0-0-{name}.internal", name) for name in model.processors}
    text = encode_report(Report(DriverState.RUNNING, binding=seats, moved=others))
    assert len(text.encode()) < MOST_BYTES / 2


def test_what_is_remembered_of_stores_fits_beside_all_else_whatever_the_number_of_tasks() -> None:
    history = StoreHistory(
        {
            f"Partition {number}": tuple(
                StorePlace(
                    f"ip-10-0-{number * 7919 % 250}-{place}.internal",
                    int(sha256(b"%d %d" % (number, place)).hexdigest()[:10], 16),
                    1_800_000_000 + number * 7907 % 72_000,
                )
                for place in range(1 + MOST_FORMER_PLACES)
            )
            for number in range(100_000)
        }
    )
    report = Report(DriverState.RUNNING, stores=history)
    text = encode_report(report)
    assert len(text.encode()) < MOST_BYTES / 4
    assert len(decode_report(text).stores.places) == MOST_PLACES // (1 + MOST_FORMER_PLACES)


@pytest.mark.parametrize("end", [0, 20, 40, -1])
def test_a_history_that_was_cut_on_its_way_is_refused(end: int) -> None:
    packed = pack_store_history(StoreHistory({"a": (StorePlace("node-a", 7, 8),)}))
    with pytest.raises(UnreadableError, match="store history"):
        unpack_store_history(packed[:end])


def test_a_task_is_where_its_processor_is() -> None:
    report = Report(
        DriverState.RUNNING,
        binding={
            "0": ExecutorBinding("node-a", "1"),
            "1": ExecutorBinding("node-b", "2"),
            "2": ExecutorBinding(),
        },
    )
    places = {"Partition 0": "node-a", "Partition 1": "node-b", "stateless": "node-a"}
    assert report.task_locality(small()) == places


def test_a_task_that_was_moved_is_where_it_was_moved_to() -> None:
    seats = {"0": ExecutorBinding("node-a", "1"), "1": ExecutorBinding("node-b", "2")}
    moved = Report(DriverState.RUNNING, binding=seats, moved={"Partition 1": "0"})
    assert moved.task_locality(small())["Partition 1"] == "node-a"


def test_a_place_that_is_not_known_is_no_place() -> None:
    report = Report(
        DriverState.RUNNING, binding={"0": ExecutorBinding(None, "1"), "1": ExecutorBinding("node-b", "2")}
    )
    assert report.task_locality(small()) == {"Partition 1": "node-b"}


def test_a_reason_of_a_later_version_is_passed_on() -> None:
    told = json.loads(
        encode_report(Report(DriverState.RUNNING, warnings=(ReportedWarning("Unheard", "a", "b"),)))
    )
    assert decode_report(json.dumps(told)).warnings[0].reason == "Unheard"


def test_a_long_message_is_cut() -> None:
    found = decode_report(
        encode_report(Report(DriverState.RUNNING, warnings=(ReportedWarning("a", "b", "c" * 10_000),)))
    )
    assert len(found.warnings[0].message) == 2_000


def test_ends_that_leave_out_a_partition_are_a_fault_of_the_writer() -> None:
    with pytest.raises(ValueError, match="leave out partition 1"):
        encode_report(Report(DriverState.RUNNING, ends={Partition("views", 0): 1, Partition("views", 2): 3}))


def test_an_unknown_state_is_refused() -> None:
    with pytest.raises(UnreadableError, match="dancing"):
        decode_report(encode_report(Report(DriverState.RUNNING)).replace("running", "dancing"))


@given(COUNTS)
def test_a_coarse_number_is_a_power_of_two_no_less_and_not_twice_as_much(number: int) -> None:
    found = next_power_of_two(number)
    assert number <= found <= max(2 * number - 1, 0)
    assert found.bit_count() == (1 if number else 0)
