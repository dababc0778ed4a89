"""The form that all parts of the resource share."""

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


class Part(BaseModel):
    """A frozen piece of the resource: camelCase outside, snake_case in Python, no unknown fields."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        extra="forbid",
        frozen=True,
        strict=True,
        use_attribute_docstrings=True,
        validate_by_alias=True,
        validate_by_name=True,
    )


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
        """What stands under that kind."""
        fields = type(self).model_fields
        body: Part = next(v for n in fields if n not in self.always() and (v := getattr(self, n)) is not None)
        return body
