import pytest

from tests.harness.core.sample_resource import changed, everything, told

LABEL = "a DNS label: small letters, digits and hyphens, with a letter or digit at both ends"
NAME = "a name: letters, digits, '-', '_' and '.', with a letter or digit at both ends"
TOPIC = "letters, digits, '.', '_' and '-', and not dots alone"


@pytest.mark.parametrize("name", ["Page", "page_views", "-page", "page-", "page views", "päge", "a.b", "a\n"])
def test_an_app_whose_name_is_no_dns_label_is_refused(name: str) -> None:
    (message,) = told(changed("metadata.name", name))
    assert message.startswith("metadata.name: found the text ")
    assert message.endswith(f"; allowed is {LABEL}")


def test_a_name_of_40_characters_is_taken_and_one_of_41_is_refused() -> None:
    assert told(changed("metadata.name", "a" * 40)) == []
    message = "metadata.name: has 41 characters; at most 40 are allowed"
    assert told(changed("metadata.name", "a" * 41)) == [message]


@pytest.mark.parametrize("name", ["_a", "a b", "a/b", "a#1", ".", "..", "-"])
def test_an_operator_whose_name_could_be_no_part_of_a_path_or_topic_is_refused(name: str) -> None:
    operator = {"name": name, "broadcast": {"from": "clicks"}}
    assert told(changed("spec.operators[13]", operator)) == [
        f'spec.operators[13].name: found the text "{name}"; allowed is {NAME}'
    ]


@pytest.mark.parametrize("name", [".", "..", "...", "a b", "a/b", "ä"])
@pytest.mark.parametrize("field", ["applicationId", "streams[0].topic"])
def test_a_topic_or_application_id_that_would_leave_its_folder_is_refused(field: str, name: str) -> None:
    assert told(changed(f"spec.{field}", name)) == [
        f'spec.{field}: found the text "{name}"; allowed is {TOPIC}'
    ]


def test_an_empty_name_is_told_as_empty() -> None:
    messages = told(changed("spec.applicationId", ""))
    assert messages == ["spec.applicationId: is empty; write something or leave it out"]


@pytest.mark.parametrize(("what", "index"), [("systems", 1), ("tables", 2)])
def test_a_name_that_stands_twice_in_a_list_is_told_with_its_first_place(what: str, index: int) -> None:
    data = everything()
    first = data["spec"][what][0]["name"]
    data["spec"][what].append({**data["spec"][what][index], "name": first})
    last = len(data["spec"][what]) - 1
    message = f'spec.{what}[{last}].name: the {what[:-1]} "{first}" is taken by spec.{what}[0]'
    assert told(data) == [message]


def test_streams_and_operators_share_one_set_of_names() -> None:
    operator = {"name": "views", "broadcast": {"from": "clicks"}}
    assert told(changed("spec.operators[13]", operator)) == [
        'spec.operators[13].name: the name "views" is taken by spec.streams[0]; '
        "streams and operators share one set of names"
    ]


def test_a_number_or_flag_for_a_name_is_told_with_the_hint_to_quote_it() -> None:
    operator = {"broadcast": {"from": "clicks"}}
    assert told(changed("spec.operators[13]", {**operator, "name": 7})) == [
        "spec.operators[13].name: found the number 7 where a text is expected; put it in quotes"
    ]
    assert told(changed("spec.operators[13]", {**operator, "name": True})) == [
        "spec.operators[13].name: found the flag true where a text is expected; "
        "yes, no, on, off, y and n are flags too: put it in quotes"
    ]
