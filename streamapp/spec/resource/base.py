"""The form that all parts of the resource share."""

import ast
import inspect
from collections.abc import Mapping
from functools import cache
from itertools import pairwise
from textwrap import dedent
from typing import Any

from pydantic import BaseModel, ConfigDict, GetJsonSchemaHandler
from pydantic.alias_generators import to_camel
from pydantic_core.core_schema import CoreSchema


class Part(BaseModel):
    """A frozen piece of the resource: camelCase outside, snake_case in Python, no unknown fields."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        extra="forbid",
        frozen=True,
        strict=True,
        validate_by_alias=True,
        validate_by_name=True,
    )

    @classmethod
    def left_out(cls) -> Mapping[str, str]:
        """Fields that people look for and that there are not, each with the reason and what to use."""
        return {}

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """The schema with what each field says of itself."""
        schema = handler(core)
        properties = handler.resolve_ref_schema(schema).get("properties", {})
        texts = field_texts(cls)
        for name, info in cls.model_fields.items():
            described = {"description": texts[name]} if name in texts else {}
            properties[info.alias or name] |= described
        return schema


class OneOf(Part):
    """A part of which exactly one field, beside those named in `always`, is set: the kind."""

    @classmethod
    def always(cls) -> frozenset[str]:
        """The fields that every kind has."""
        return frozenset({"name"})

    @classmethod
    def kinds(cls) -> tuple[str, ...]:
        """The kinds, by their names in the resource."""
        fields = cls.model_fields.items()
        return tuple(info.alias or name for name, info in fields if name not in cls.always())

    @property
    def kind(self) -> str:
        """The one kind that is set, by its name in the resource."""
        fields = type(self).model_fields.items()
        return next(
            i.alias or n for n, i in fields if n not in self.always() and getattr(self, n) is not None
        )

    @property
    def body(self) -> Part:
        """The part under that kind."""
        fields = type(self).model_fields
        body: Part = next(v for n in fields if n not in self.always() and (v := getattr(self, n)) is not None)
        return body


@cache
def field_texts(part: type[BaseModel]) -> Mapping[str, str]:
    """The texts below the fields of a part, read from its source when somebody asks.

    Pydantic would read them at each start of a process, which takes a tenth of what a plan takes.
    """
    texts: dict[str, str] = {}
    for model in reversed([each for each in part.__mro__ if issubclass(each, BaseModel)][:-1]):
        statements = _class_body(model)
        for field, below in pairwise(statements):
            match field, below:
                case (
                    ast.AnnAssign(target=ast.Name(id=name)),
                    ast.Expr(value=ast.Constant(value=str(text))),
                ):
                    texts[name] = inspect.cleandoc(text)
    return texts


def _class_body(model: type[BaseModel]) -> list[ast.stmt]:
    match ast.parse(dedent(inspect.getsource(model))).body:
        case [ast.ClassDef(body=statements)]:
            return statements
    raise TypeError(f"{model.__qualname__} has no source of a class")
