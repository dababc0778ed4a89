"""The fields in which an app names code of its own, as `package.module:name`."""

from collections.abc import Iterator

from streamapp.placement.locations.location_providers import user_provider_name
from streamapp.spec.resource.app import StreamApp
from streamapp.spec.resource.config_keys import ALGORITHM
from streamapp.spec.resource.kafka_settings import TOKEN_FUNCTION
from streamapp.tasks.user_answers import own_functions


def step_references(app: StreamApp) -> Iterator[tuple[str, str]]:
    """The path and the name of each function and class that rows or remote tables go through."""
    for index, operator in enumerate(app.spec.operators):
        python: str | None = getattr(operator.body, "python", None)
        if python is not None:
            yield f"spec.operators[{index}].{operator.kind}.python", python
    for index, table in enumerate(app.spec.tables):
        if table.remote is not None and table.remote.python is not None:
            yield f"spec.tables[{index}].remote.python", table.remote.python


def python_references(app: StreamApp) -> Iterator[tuple[str, str]]:
    """The path and the name of all code of the app's own: for rows, tasks, locations and tokens."""
    yield from step_references(app)
    functions, provider = own_functions(app), user_provider_name(app.spec.placement.location)
    if functions.grouper is not None:
        yield "spec.grouper", functions.grouper
    if functions.algorithm is not None:
        yield f"spec.config.{ALGORITHM}", functions.algorithm
    if provider is not None:
        yield "spec.placement.location", provider
    yield from token_functions(app)


def token_functions(app: StreamApp) -> Iterator[tuple[str, str]]:
    """The path and the name of each function that gives tokens for brokers."""
    for index, system in enumerate(app.spec.systems):
        if system.kafka is not None and TOKEN_FUNCTION in system.kafka.config:
            yield f"spec.systems[{index}].kafka.config.{TOKEN_FUNCTION}", system.kafka.config[TOKEN_FUNCTION]
