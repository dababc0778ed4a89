import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamapp.spec.value_types.durations import UNITS, milliseconds
from tests.harness.core.sample_resource import changed, told

FORM = "a duration such as 500ms, 5s, 10m, 1h30m or 7d"


@pytest.mark.parametrize("text", ["5", "5 s", "s", "-5s", "1.5h", "5S", "5s\n", "1w", "PT5S", ""])
def test_a_text_that_is_no_duration_is_told_with_examples(text: str) -> None:
    path = "spec.operators[7].join.within"
    (message,) = told(changed(path, text))
    assert message.startswith(f"{path}: found the text ")
    assert message.endswith(f"allowed is {FORM}")


RANGES = [
    ("spec.operators[7].join.within", "0s", "1ms to 3650d"),
    ("spec.operators[7].join.within", "3650d1ms", "1ms to 3650d"),
    ("spec.streams[0].eventTime.delay", "25h", "0s to 1d"),
    ("spec.operators[8].aggregate.allowedLateness", "99999d", "0s to 3650d"),
    ("spec.tables[2].remote.timeout", "2d", "0s to 1d"),
]


@pytest.mark.parametrize(("path", "value", "allowed"), RANGES)
def test_a_duration_out_of_range_is_told_with_the_range(path: str, value: str, allowed: str) -> None:
    assert told(changed(path, value)) == [f"{path}: found {value}; allowed is {allowed}"]


@given(
    st.lists(st.tuples(st.integers(0, 999_999_999), st.sampled_from(sorted(UNITS))), min_size=1, max_size=3)
)
def test_the_parts_of_a_duration_add_up(parts: list[tuple[int, str]]) -> None:
    text = "".join(f"{number}{unit}" for number, unit in parts)
    assert milliseconds(text) == sum(number * UNITS[unit] for number, unit in parts)


NUMBERS = [
    ("spec.processors", 0, "found 0; at least 1 is allowed"),
    ("spec.processors", 10_001, "found 10001; at most 10000 is allowed"),
    ("spec.processors", 1.5, "found the number 1.5 where a whole number is expected"),
    ("spec.processors", "4", 'found the text "4" where a whole number is expected'),
    ("spec.operators[1].partitionBy.partitions", 100_001, "found 100001; at most 100000 is allowed"),
    ("spec.tables[2].remote.retry.attempts", 0, "found 0; at least 1 is allowed"),
    ("spec.mode", "batsh", 'found the text "batsh"; allowed are stream, batch; did you mean "batch"?'),
    ("spec.tables[1].store", "redis", 'found the text "redis"; allowed are rocksdb, lmdb, memory'),
    ("spec.grouper", "mine", 'found the text "mine"; allowed is partition, streamPartition, single, '
     "or a custom one as package.module:name"),
    ("spec.placement.location", "rack", 'found the text "rack"; allowed is node, pod, volume, label:<key>, '
     "several of these joined by '+', or a custom one as package.module:name"),
    ("spec.state.persistentVolumeClaim.size", "10 GB", 'found the text "10 GB"; allowed is a Kubernetes '
     "quantity such as 500m, 2, 512Mi or 10Gi"),
    ("spec.broadcastInputs[0]", "clicks#x", 'found the text "clicks#x"; allowed is stream, stream#3 or '
     "stream#[0-7]"),
    ("spec.broadcastInputs[0]", "clicks#[7-0]", "found clicks#[7-0]; the first partition has to come before "
     "the last"),
    ("spec.operators[7].join.from", ["real"], "found a list of 1; at least 2 entries are needed"),
    ("spec.operators[7].join.from", ["real", "clicks", "views"], "found a list of 3; at most 2 entries are "
     "allowed"),
    ("spec.operators[7].join.from", "real", 'found the text "real" where a list is expected'),
    ("spec.operators[6].merge.from", ["words"], "found a list of 1; at least 2 entries are needed"),
    ("spec.operators[4].map.python", "shop.lines", 'found the text "shop.lines"; allowed is '
     "package.module:name"),
    ("spec.operators", [], "found a list of 0; at least 1 entry is needed"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "value", "message"), NUMBERS)
def test_a_value_out_of_range_is_told_with_what_was_found_and_what_is_allowed(
    path: str, value: object, message: str
) -> None:
    assert told(changed(path, value)) == [f"{path}: {message}"]


def test_a_text_that_is_too_long_is_told_by_its_length_and_not_repeated() -> None:
    path = "spec.operators[0].filter.where"
    message = f"{path}: has 16385 characters; at most 16384 are allowed"
    assert told(changed(path, "a" * 16_385)) == [message]


COUNT = "job.intermediate.stream.partitions"
SETTINGS = [
    (COUNT, "0", 'found the text "0"; allowed is a whole number from 1 to 100000'),
    (COUNT, 4, "found the number 4 where a text is expected; put it in quotes"),
    (
        "job.intermediate.stream.partitons",
        "4",
        f'unknown setting "job.intermediate.stream.partitons"; did you mean "{COUNT}"?',
    ),
    (
        "job.systemstreampartition.expansion.algorithm",
        "half",
        'found the text "half"; allowed is package.module:name',
    ),
]


@pytest.mark.parametrize(("name", "value", "message"), SETTINGS)
def test_a_setting_is_known_by_its_name_and_range(name: str, value: object, message: str) -> None:
    assert told(changed("spec.config", {name: value})) == [f"spec.config.{name}: {message}"]
