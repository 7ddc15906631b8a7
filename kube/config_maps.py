"""A ConfigMap, as small as it is read: its texts. What a program takes its settings from.

Field names are those of core/v1. Source: the API reference of Kubernetes 1.36.
"""

from __future__ import annotations

import msgspec

from kube.objects import Metadata, StringMap


class ManagedField(msgspec.Struct, gc=False):
    """Who wrote some of the fields, last when."""

    time: str | None = None


class ConfigMapMetadata(Metadata):
    managedFields: list[ManagedField] | None = None


class ConfigMap(msgspec.Struct, omit_defaults=True, gc=False):
    """Binary data is not read."""

    metadata: ConfigMapMetadata = msgspec.field(default_factory=ConfigMapMetadata)
    data: StringMap | None = None


def changed_at(found: ConfigMap) -> str:
    """When it was last written, as the API server noted (RFC 3339, UTC); "" where it did not."""
    return max((one.time or "" for one in found.metadata.managedFields or ()), default="")
