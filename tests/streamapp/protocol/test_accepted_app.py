import json

import pytest

from streamapp.jobmodel.unreadable_data import UnreadableError
from streamapp.protocol.accepted_app import AcceptedApp, decode_accepted, encode_accepted, spec_hash
from streamapp.spec.parser import parse_data
from streamapp.spec.resource.app import StreamApp
from streamapp.spec.serialization import as_data
from tests.harness.core.sample_resource import everything


def app(**changes: object) -> StreamApp:
    data = everything()
    data["spec"] |= changes
    return parse_data(data).apps[0]


def test_an_accepted_app_is_read_as_it_was_accepted() -> None:
    accepted = AcceptedApp(app(), generation=7, owner="5f2c")
    assert decode_accepted(encode_accepted(accepted)) == accepted


def test_another_spec_has_another_hash() -> None:
    assert spec_hash(app(processors=3)) != spec_hash(app(processors=4))


def test_a_default_that_is_said_or_left_out_is_the_same_hash() -> None:
    assert spec_hash(app(mode="stream")) == spec_hash(app())


def test_labels_and_annotations_are_no_part_of_the_hash() -> None:
    data = as_data(app())
    data["metadata"] |= {"labels": {"team": "shop"}, "annotations": {"note": "x"}}
    assert spec_hash(parse_data(data).apps[0]) == spec_hash(app())


def test_an_app_that_was_changed_on_the_way_is_refused() -> None:
    told = json.loads(encode_accepted(AcceptedApp(app())))
    told["app"]["spec"]["processors"] = 9
    with pytest.raises(UnreadableError, match="its hash is"):
        decode_accepted(json.dumps(told))


def test_an_app_that_is_none_any_more_is_refused_with_what_is_wrong() -> None:
    told = json.loads(encode_accepted(AcceptedApp(app())))
    del told["app"]["spec"]["streams"]
    with pytest.raises(UnreadableError, match=r"spec\.streams"):
        decode_accepted(json.dumps(told))
