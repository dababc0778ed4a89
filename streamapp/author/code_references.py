"""The fields in which an app names code of its own, as `package.module:name`."""

from collections.abc import Iterator

from streamapp.placement.locations.location_providers import user_provider_name
from streamapp.spec.resource.app import StreamApp
from streamapp.spec.resource.config_keys import ALGORITHM
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
    """The path and the name of all code of the app's own, also of what forms tasks and says locations."""
    yield from step_references(app)
    functions, provider = own_functions(app), user_provider_name(app.spec.placement.location)
    if functions.grouper is not None:
        yield "spec.grouper", functions.grouper
    if functions.algorithm is not None:
        yield f"spec.config.{ALGORITHM}", functions.algorithm
    if provider is not None:
        yield "spec.placement.location", provider
