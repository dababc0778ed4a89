"""The lookup of schemas that a test knows, in place of a registry's."""

from streamapp_runtime.registered_schema import RegisteredSchema, SchemaId, UnknownSchemaError
from streamapp_runtime.systems.stream_system import UnavailableError


class KnownSchemas:
    """The schemas by their ids, what was asked for, and whether nobody answers."""

    def __init__(self, schemas: dict[SchemaId, RegisteredSchema]) -> None:
        self.schemas, self.asked, self.is_away = schemas, list[SchemaId](), False

    def schema(self, schema_id: SchemaId) -> RegisteredSchema:
        self.asked.append(schema_id)
        if self.is_away:
            raise UnavailableError("the schema registry cannot be asked")
        if schema_id not in self.schemas:
            raise UnknownSchemaError(f"schema id {schema_id}: the registry says: not found")
        return self.schemas[schema_id]
