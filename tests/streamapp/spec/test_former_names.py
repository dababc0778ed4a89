"""Renamed fields are understood by both of their names, and an edit that only renames is none."""

import json
import warnings
from copy import deepcopy
from typing import Any

import pytest
import yaml

from streamapp.dsl.app_program import App
from streamapp.protocol.accepted_app import AcceptedApp, decode_accepted, encode_accepted, spec_hash
from streamapp.spec.former_names import former_form
from streamapp.spec.parser import ParseResult, parse, parse_data
from streamapp.spec.problem import Problem
from streamapp.spec.reasons import Reason
from streamapp.spec.resource.app import StreamApp
from streamapp.spec.resource.tables import Remote
from streamapp.spec.schema.crd_manifest import crd_definition
from streamapp.spec.schema.editor_schema import editor_schema
from streamapp.spec.serialization import as_data

Data = dict[str, Any]

CURRENT: Data = {
    "apiVersion": "streamapp.dev/v1alpha1",
    "kind": "StreamApp",
    "metadata": {"name": "shop"},
    "spec": {
        "systems": [{"name": "main", "embedded": {"path": "/data"}}],
        "streams": [
            {"name": "views", "system": "main", "key": "user", "columns": "user STRING, page STRING"},
            {"name": "users", "system": "main", "key": "user", "columns": "user STRING, age INT"},
            {"name": "other", "system": "main", "columns": "user STRING", "carriesWatermarks": True},
            {"name": "out", "system": "main"},
        ],
        "tables": [
            {
                "name": "users",
                "sideInputs": [{"stream": "users"}],
                "maxStoreAge": "2h",
                "visibility": "sameBatch",
            },
            {
                "name": "prices",
                "columns": "page STRING, price INT",
                "remote": {"python": "shop:Prices", "onUnavailable": "asMissing"},
            },
        ],
        "operators": [
            {"name": "aged", "joinTable": {"from": "views", "table": "users", "select": "user, page"}},
            {"name": "write", "sendTo": {"from": "aged", "stream": "out"}},
        ],
    },
}


def formerly() -> Data:
    """The same app as it was written before."""
    data = deepcopy(CURRENT)
    stream, users, prices = data["spec"]["streams"][2], *data["spec"]["tables"]
    stream["control"] = stream.pop("carriesWatermarks")
    users["retention"] = users.pop("maxStoreAge")
    users["applyBefore"] = {"sameBatch": "join"}[users.pop("visibility")]
    prices["remote"]["onUnavailable"] = "null"
    return data


FORMER_HASH = "93541427725108d5127241198591f8c3e2aca54e92b884bf55b4a5f6ca816938"
"""As the version before had it."""

MESSAGES = {
    "spec.streams[2].control": '"control" is now called "carriesWatermarks"',
    "spec.tables[0].applyBefore": '"applyBefore" is now called "visibility: sameBatch"',
    "spec.tables[0].retention": '"retention" is now called "maxStoreAge"',
    "spec.tables[1].remote.onUnavailable": '"null" is now called "asMissing"',
}


def the_app(result: ParseResult) -> StreamApp:
    assert result.problems == ()
    (app,) = result.apps
    return app


def renamed(result: ParseResult) -> dict[str, str]:
    found: tuple[Problem, ...] = result.renamed_in(the_app(result))
    assert {problem.reason for problem in found} <= {Reason.RENAMED_FIELD}
    return {problem.path: problem.message for problem in sorted(found)}


def test_an_app_by_former_names_is_the_app_by_current_ones_and_has_a_warning_for_each() -> None:
    former = parse_data(formerly())
    assert the_app(former) == the_app(parse_data(CURRENT))
    assert renamed(former) == {
        path: f"{message}; the former name goes with 0.2" for path, message in MESSAGES.items()
    }
    assert renamed(parse_data(CURRENT)) == {}


def test_a_warning_names_the_line_and_the_document() -> None:
    second = formerly()
    second["metadata"]["name"] = "other"
    text = "---\n".join(yaml.safe_dump(data, sort_keys=False) for data in (CURRENT, second))
    result = parse(text)
    first_app, second_app = result.apps
    assert result.renamed_in(first_app) == ()
    lines = text.splitlines()
    for problem in result.renamed_in(second_app):
        assert problem.path.rpartition(".")[2] in lines[problem.line - 1]
        assert problem.document == 2


def test_a_wrong_value_is_refused_at_the_name_that_was_written() -> None:
    data = formerly()
    data["spec"]["tables"][0] |= {"retention": "forever", "applyBefore": "never"}
    found = {problem.path: problem.message for problem in parse_data(data).problems}
    assert sorted(found) == ["spec.tables[0].applyBefore", "spec.tables[0].retention"]
    assert found["spec.tables[0].applyBefore"].endswith("allowed are nextBatch, sameBatch")


def test_both_names_with_different_values_are_refused_and_with_the_same_value_are_not() -> None:
    data = deepcopy(CURRENT)
    data["spec"]["tables"][0]["retention"] = "3h"
    (problem,) = parse_data(data).problems
    assert problem.path == "spec.tables[0].retention"
    assert problem.message.endswith("leave the former name out")
    data["spec"]["tables"][0]["retention"] = "2h"
    assert the_app(parse_data(data)) == the_app(parse_data(CURRENT))


def test_a_default_that_an_api_server_filled_in_contradicts_and_warns_of_nothing() -> None:
    filled_in = {"retention": "1d", "applyBefore": "batch"}
    data = deepcopy(CURRENT)
    data["spec"]["tables"][0] |= filled_in
    data["spec"]["streams"][2]["control"] = False
    assert the_app(parse_data(data)) == the_app(parse_data(CURRENT))
    data = deepcopy(CURRENT)
    data["spec"]["tables"][0] = {"name": "users", "sideInputs": [{"stream": "users"}], **filled_in}
    assert renamed(parse_data(data)) == {}
    assert sorted(renamed(parse(json.dumps(data)))) == [
        "spec.tables[0].applyBefore",
        "spec.tables[0].retention",
    ]


def test_a_contradiction_in_a_file_is_refused_also_where_the_former_name_says_the_default() -> None:
    data = deepcopy(CURRENT)
    data["spec"]["tables"][0]["retention"] = "1d"
    (problem,) = parse(json.dumps(data)).problems
    assert problem.path == "spec.tables[0].retention"


def test_what_a_driver_reads_has_the_former_names_and_the_hash_stays() -> None:
    app = the_app(parse_data(CURRENT))
    text = encode_accepted(AcceptedApp(app, 3))
    written = json.loads(text)["app"]
    assert written["spec"]["tables"] == formerly()["spec"]["tables"]
    assert written["spec"]["streams"][2]["control"] is True
    assert decode_accepted(text).app == app
    assert spec_hash(app) == FORMER_HASH


def test_the_former_form_is_what_was_translated() -> None:
    assert (
        former_form(as_data(the_app(parse_data(formerly()))))["spec"]["tables"]
        == (formerly()["spec"]["tables"])
    )


def test_a_program_with_former_arguments_means_the_same_and_is_warned() -> None:
    def program(**fields: Any) -> StreamApp:
        app = App("shop")
        stream = app.embedded("main", path="/data").stream("views", columns="user STRING", key="user")
        seen = app.table("seen", columns="user STRING", **fields)
        stream.send_to_table("keep", table=seen)
        return the_app(app.parsed())

    with pytest.warns(FutureWarning) as caught:
        former = program(retention="2h", apply_before="join")
    assert sorted(str(warning.message) for warning in caught) == [
        '"apply_before" is now called "visibility: sameBatch"; the former name goes with 0.2',
        '"retention" is now called "max_store_age"; the former name goes with 0.2',
    ]
    assert {warning.filename for warning in caught} == {__file__}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert program(max_store_age="2h", visibility="sameBatch") == former


def test_a_part_with_a_former_value_is_warned_of() -> None:
    with pytest.warns(FutureWarning, match='"null" is now called "asMissing"'):
        assert Remote(python="shop:Prices", on_unavailable="null").on_unavailable == "asMissing"  # type: ignore[arg-type]


def test_definition_and_editor_schema_have_both_names_and_no_default_for_them() -> None:
    versions = crd_definition()["spec"]["versions"]
    cluster = versions[0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
    editor = editor_schema()["properties"]["spec"]["properties"]
    for spec in (cluster, editor):
        table = spec["tables"]["items"]["properties"]
        assert table["retention"]["description"].startswith("The former name of `maxStoreAge`")
        assert table["applyBefore"]["enum"] == ["batch", "join"]
        assert table["visibility"]["enum"] == ["nextBatch", "sameBatch"]
        assert not any("default" in table[name] for name in ("retention", "maxStoreAge", "visibility"))
        assert "null" in table["remote"]["properties"]["onUnavailable"]["enum"]
    tables = editor["tables"]["items"]["properties"]
    assert tables["retention"]["deprecated"] is True
    assert "deprecated" not in tables["maxStoreAge"]
