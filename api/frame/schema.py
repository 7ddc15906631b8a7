"""The OpenAPI document: structs as components, the bearer token, one address each, served. Its refusals are in `answers`."""

from __future__ import annotations

import json
from datetime import datetime
from functools import lru_cache
from typing import Any, get_args, get_type_hints

import msgspec
from django.http import HttpResponse
from django.urls import get_script_prefix
from drf_spectacular.extensions import OpenApiAuthenticationExtension, OpenApiSerializerExtension
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.plumbing import ResolvedComponent
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularJSONAPIView
from rest_framework.request import Request

_REF = "#/components/schemas/{name}"


class StructExtension(OpenApiSerializerExtension):
    """A msgspec struct where a serializer could stand: its JSON schema, with the structs inside it as components."""

    target_class = "msgspec.Struct"
    match_subclasses = True

    def get_name(self, auto_schema: Any, direction: str) -> str:
        return str(self.target.__name__)

    def map_serializer(self, auto_schema: Any, direction: str) -> dict[str, Any]:
        _, components = msgspec.json.schema_components([self.target], ref_template=_REF)
        inside = _structs(self.target)
        for name, schema in components.items():
            _name_times(inside[name], schema)
        own: dict[str, Any] = components.pop(self.target.__name__)
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


def _name_times(kind: type[msgspec.Struct], schema: dict[str, Any]) -> None:
    """Times are `date-time`: msgspec says so only of types that refuse times without a zone, and ours have one always."""
    hints = get_type_hints(kind)
    for field in msgspec.structs.fields(kind):
        if datetime in (hints[field.name], *get_args(hints[field.name])):
            own = schema["properties"][field.encode_name]
            for part in (own, *own.get("anyOf", ())):
                if part.get("type") == "string":
                    part["format"] = "date-time"


class TokenScheme(OpenApiAuthenticationExtension):
    """How the document names the bearer token."""

    target_class = "accounts.authentication.TokenAuthentication"
    name = "bearerToken"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "bearerFormat": "gpd_<id>_<secret>"}


def one_address_each(endpoints: list[Any]) -> list[Any]:
    """PREPROCESSING_HOOKS: each address is served with and without a slash at its end; the document has the one without."""
    return [endpoint for endpoint in endpoints if not endpoint[0].endswith("/")]


class Document(SpectacularJSONAPIView):
    """The document, made at the first request of a process: it takes 2 s, and is the same for all who ask."""

    @extend_schema(exclude=True)
    def get(self, request: Request, *args: Any, **kwargs: Any) -> HttpResponse:
        return HttpResponse(_document(get_script_prefix()), content_type=str(request.accepted_renderer.media_type))


@lru_cache(maxsize=1)
def _document(root: str) -> bytes:
    """root: the path below which its addresses are served."""
    made = SchemaGenerator().get_schema(request=None, public=True)
    return json.dumps(made | {"servers": [{"url": root}]}, ensure_ascii=False).encode()
