"""The OpenAPI document: structs as components, the bearer token, one address each. Its refusals are in `answers`."""

from __future__ import annotations

from typing import Any, get_args, get_type_hints

import msgspec
from drf_spectacular.extensions import OpenApiAuthenticationExtension, OpenApiSerializerExtension
from drf_spectacular.plumbing import ResolvedComponent

_REF = "#/components/schemas/{name}"


class StructExtension(OpenApiSerializerExtension):
    """A msgspec struct where a serializer could stand: its JSON schema, with the structs inside it as components."""

    target_class = "msgspec.Struct"
    match_subclasses = True

    def get_name(self, auto_schema: Any, direction: str) -> str:
        return str(self.target.__name__)

    def map_serializer(self, auto_schema: Any, direction: str) -> dict[str, Any]:
        _, components = msgspec.json.schema_components([self.target], ref_template=_REF)
        own: dict[str, Any] = components.pop(self.target.__name__)
        inside = _structs(self.target)
        for name, schema in components.items():
            auto_schema.registry.register_on_missing(
                ResolvedComponent(name=name, type=ResolvedComponent.SCHEMA, object=inside[name], schema=schema)
            )
        return own


def _structs(kind: Any) -> dict[str, type[msgspec.Struct]]:
    """Name → struct, of all structs inside a type, itself too."""
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        found = {kind.__name__: kind}
        for hint in get_type_hints(kind).values():
            found |= _structs(hint)
        return found
    return {name: one for part in get_args(kind) for name, one in _structs(part).items()}


class TokenScheme(OpenApiAuthenticationExtension):
    """How the document names the bearer token."""

    target_class = "accounts.authentication.TokenAuthentication"
    name = "bearerToken"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "bearerFormat": "gpd_<id>_<secret>"}


def one_address_each(endpoints: list[Any]) -> list[Any]:
    """PREPROCESSING_HOOKS: each address is served with and without a slash at its end; the document has the one without."""
    return [endpoint for endpoint in endpoints if not endpoint[0].endswith("/")]
