"""What a reader may know besides the samples: the clock, the nodes, and which pods are none of the users'."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec


class Context(msgspec.Struct, frozen=True, kw_only=True):
    """All of it is optional but the clock; what is not known makes readings less certain, never wrong.

    now: unix seconds; the time of samples that carry none. node: of the target whose page this is, "" for answers of Prometheus.
    version: the exporter's, as its image's tag says, "" where its pod is not known.
    nodes: names of the cluster's nodes. addresses: address of a node or of a pod of an exporter → node.
    exporters: (namespace, name) of pods of exporters → node. ignored: pods that hold cards and are no users, such as validations.
    sizes: `normal_uuid` of a card → its bytes, by which figures of more are refused.
    """

    now: float
    node: str = ""
    version: str = ""
    nodes: frozenset[str] = frozenset()
    addresses: Mapping[str, str] = {}
    exporters: Mapping[tuple[str, str], str] = {}
    ignored: frozenset[tuple[str, str]] = frozenset()
    sizes: Mapping[str, int] = {}
