"""No secret that is put anywhere into the objects of an app is in the bytes of a bundle."""

import gzip
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any

import pytest

from streamapp.cli.option_groups import ClusterAccess
from streamapp.spec.redaction import REDACTED, Redaction, is_secret_name
from streamapp.spec.resource.kafka_settings import ALLOWED, SECRET
from streamapp_operator.cli.cluster_access.cluster_command import run_with_cluster
from streamapp_operator.cli.support_bundle.bundle_archive import archive_bytes
from streamapp_operator.cli.support_bundle.bundle_contents import BundleContents
from streamapp_operator.cli.support_bundle.bundle_index import redacted_bundle
from streamapp_operator.cli.support_bundle.bundle_reading import read_bundle
from tests.harness.core.all_cases import all_cases
from tests.harness.operator.operator_sim import ON_SERVED_MEMORY, OperatorSim
from tests.harness.operator.small_apps import join

SHAPES = {
    "an address": "could not reach postgres://shop:{0}@db:5432/orders, trying again",
    "an address without a user": "redis://:{0}@cache:6379/0",
    "an address with a token": "cloning https://{0}@git.example/repo",
    "no scheme": "connected as shop:{0}@db.example",
    "a setting": 'login with user=shop password={0}, and "api_key": "{0}"',
    "a quoted setting": "it has sasl.password='{0} {0}' in it",
    "JSON in a text": 'the answer was {{\\"token\\": \\"{0}\\", \\"n\\": 1}}',
    "JAAS": 'PlainLoginModule required username="a" password="{0}";',
    "a header": "Authorization: Bearer {0}",
    "another header": "sent Basic {0}== to the registry",
    "an option": "started with --db-password {0} --verbose",
    "a query": "GET /blob?sv=2024&sig={0}&se=1",
    "a key": "-----BEGIN RSA PRIVATE KEY-----\n{0}\n{0}\n-----END RSA PRIVATE KEY-----",
    "a web token": "with eyJhbGciOiJIUzI1{0}.eyJzdWIiOiIx{0}.{0}",
    "short names": "DB_PASS={0} dbPass: {0} REDIS_PWD={0} basic_auth={0}",
    "a setting that was cut off": 'retrying with password="{0}',
    "YAML": "sasl:\n  password: {0}\n",
}
"""How secrets get into texts, each by the rule that is there for it."""


class Marks:
    """Secrets, each another one."""

    def __init__(self) -> None:
        self.made: list[str] = []

    def next(self) -> str:
        self.made.append(f"planted{len(self.made):06d}x")
        return self.made[-1]


def planted(value: Any, marks: Marks, shape: str, path: tuple[str | int, ...] = ()) -> Any:
    """The same with a secret in each text, and a field with a secret in each object."""
    if isinstance(value, dict):
        fields = {key: planted(each, marks, shape, (*path, key)) for key, each in value.items()}
        return {**fields, "db-password": marks.next(), "options": {"secret": {"value": marks.next()}}}
    if isinstance(value, list):
        return [planted(each, marks, shape, (*path, number)) for number, each in enumerate(value)]
    if not isinstance(value, str):
        return value
    if path[-1] == "value" and path[-3] == "env":
        return marks.next()
    return f"{value} {shape.format(marks.next())}"


@pytest.fixture
def contents(sim: OperatorSim) -> BundleContents:
    """All that is read of an app that runs, with an executor, a variable and events."""
    sim.bring_up(join(env=[{"name": "REGION", "value": "somewhere-far"}]))
    sim.executor(1)
    access = ClusterAccess(kubeconfig=sim.kubeconfig())
    return run_with_cluster(access, lambda cluster: read_bundle(cluster, sim.namespace, "app", 10))


def written(contents: BundleContents) -> bytes:
    bundle = redacted_bundle(contents, app="app", namespace="shop", made_at="2026-11-01T12:00:00Z")
    return gzip.decompress(archive_bytes("app-bundle", bundle.texts))


def written_with(contents: BundleContents, shape: str) -> tuple[Marks, bytes]:
    """A bundle with a secret of this shape in each text, and these secrets."""
    marks = Marks()
    secret_contents = changed(contents, lambda content: planted(content, marks, shape, ("file",)))
    for number in range(3):
        text = "".join(f"12:00:0{number} {shape.format(marks.next())}\n" for shape in SHAPES.values())
        secret_contents.add(f"logs/app-driver-1/{number}.log", "a log", text)
    secret_contents.leave_out("logs", f"500: {shape.format(marks.next())}")
    return marks, written(secret_contents)


def changed(contents: BundleContents, change: Callable[[Any], Any]) -> BundleContents:
    with_change = BundleContents(unread=list(contents.unread))
    for file in contents.files:
        with_change.add(file.name, file.description, change(deepcopy(file.content)))
    return with_change


@ON_SERVED_MEMORY
def test_a_secret_in_any_text_of_any_object_is_not_in_the_archive(contents: BundleContents) -> None:
    with all_cases() as case:
        for name, shape in SHAPES.items():
            with case(name):
                marks, content = written_with(contents, shape)
                assert len(marks.made) > 500, "the objects have that many texts"
                assert [mark for mark in marks.made if mark.encode() in content] == []


@ON_SERVED_MEMORY
def test_what_the_app_wrote_of_a_variable_is_hidden_in_its_log_too(contents: BundleContents) -> None:
    contents.add("logs/app-driver-1/driver.log", "a log", "the region is somewhere-far, the app is app\n")
    content = written(contents)
    assert b"somewhere-far" not in content
    assert f"the region is {REDACTED}, the app is app\n".encode() in content


def texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for each in value.values():
            yield from texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from texts(each)
    elif isinstance(value, str):
        yield value


@ON_SERVED_MEMORY
def test_what_is_no_secret_stays(contents: BundleContents) -> None:
    """Of all texts of an app without secrets only variables and field sets are hidden."""
    redaction = Redaction([file.content for file in contents.files])
    for file in contents.files:
        redaction.redacted(file.content)
    assert {rule for rule, count in redaction.hidden.items() if count} <= {
        "environment",
        "applied-copy",
        "known-value",
    }


def test_a_variable_of_a_template_is_hidden_and_the_name_of_its_secret_is_not() -> None:
    source = {"name": "B", "valueFrom": {"secretKeyRef": {"name": "shop", "key": "password"}}}
    container = {"env": [{"name": "A", "value": "x"}, source]}
    assert Redaction([]).redacted(container) == {"env": [{"name": "A", "value": REDACTED}, source]}


@pytest.mark.parametrize(
    "text",
    [
        'secret "kafka" not found',
        "3 passes: compass, author and signal",
        "image registry.example/team/app:1.2@sha256:0123456789abcdef cannot be pulled",
        "0/3 nodes are available: 3 Insufficient cpu.",
        "lag of page-views:3 is 120",
        '{"secretKeyRef": {"name": "kafka", "key": "password"}}',
        "secretName: kafka",
        "-------- token --------",
        "http://app-driver-1.app-driver.shop.svc:7078/path",
        "spec.systems[0].kafka.config: write host:port",
    ],
)
def test_a_text_without_a_secret_is_as_it_was(text: str) -> None:
    assert Redaction([]).redacted(text) == text


def test_names_of_secrets_stay_and_values_under_the_same_name_in_options_do_not() -> None:
    pod = {"spec": {"volumes": [{"name": "v", "secret": {"secretName": "kafka"}}]}}
    assert Redaction([]).redacted(pod) == pod
    table = {"remote": {"options": {"secret": "x-1234", "host": "db", "credentials": {"user": "a", "n": 5}}}}
    hidden = {"secret": REDACTED, "host": "db", "credentials": {"user": REDACTED, "n": REDACTED}}
    assert Redaction([]).redacted(table) == {"remote": {"options": hidden}}


def test_an_argument_after_a_secret_option_is_hidden() -> None:
    container = {"args": ["--user", "a", "--password", "b", "--token=c", "run"]}
    assert Redaction([]).redacted(container) == {
        "args": ["--user", "a", "--password", REDACTED, f"--token={REDACTED}", "run"]
    }


def test_settings_of_kafka_that_are_secret_are_hidden_and_the_others_stay() -> None:
    assert [name for name in sorted(ALLOWED) if is_secret_name(name)] == sorted(SECRET)


def test_an_object_in_a_text_is_read_as_one() -> None:
    text = '{"spec": {"env": [{"name": "A", "value": "as it is"}], "image": "app:1"}}'
    hidden = '{"spec": {"env": [{"name": "A", "value": "***"}], "image": "app:1"}}'
    assert Redaction([]).redacted({"annotations": {"copy": text}}) == {"annotations": {"copy": hidden}}
