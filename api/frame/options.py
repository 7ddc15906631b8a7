"""OPTIONS: which methods an address takes. What they take stands in the OpenAPI document."""

from __future__ import annotations

from typing import Any

from rest_framework.metadata import BaseMetadata
from rest_framework.request import Request


class Methods(BaseMetadata):
    def determine_metadata(self, request: Request, view: Any) -> dict[str, Any]:
        return {"methods": view.allowed_methods, "schema": "/api/v1/schema"}
