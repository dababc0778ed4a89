"""Why an app cannot start, whatever its streams are: unsupported fields, wrong columns and expressions."""

from streamapp.author.unsupported_fields import unsupported_fields
from streamapp.columns.app_columns import column_problems
from streamapp.spec.problem import Problem
from streamapp.spec.resource.app import StreamApp


def start_problems(app: StreamApp) -> tuple[Problem, ...]:
    """Every such problem, sorted by its path. A start has Spark judge what is left."""
    return tuple(sorted({*unsupported_fields(app), *column_problems(app)}))
