"""Which pod a row is of, and whether it is a user's.

With honorLabels false, Prometheus moves the exporter's own labels to `exported_pod` and writes the target's pod into `pod`;
with true, rows of idle cards can inherit the target's pod. So `exported_*` counts first, and the pod of an exporter is no
holder. Pods of reservations and validations hold a card and are no users either. Which they are is declared with the format.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec

from exporters.engine.context import Context

#: Longest name of a namespace, pod or container.
_NAME_CHARS = 253
#: Classified pods that are kept; the bound is for hostile labels.
_KEPT = 400_000

#: (namespace, pod, container).
Key = tuple[str, str, str]
#: What the pod of a row is, where it is no user's.
NOBODY, EXPORTER, NOT_A_USER, SEVERAL = 0, 1, 2, 3


class PodLabels(msgspec.Struct, frozen=True, kw_only=True):
    """What an exporter calls the pod, by its own labels; of several names first those that no target has.

    hidden: what it writes in the place of a pod where several hold the card; "" for nothing.
    """

    pod: tuple[str, ...] = ("pod",)
    namespace: tuple[str, ...] = ("namespace",)
    container: tuple[str, ...] = ("container",)
    uid: str = "pod_uid"
    hidden: str = ""


#: Of an exporter that names no pods: a pod in its rows is that of the exporter, put there by Prometheus.
NO_PODS = PodLabels(pod=(), namespace=(), container=())


class NoHolders(msgspec.Struct, frozen=True, kw_only=True):
    """Pods that rows may name and that use no card.

    exporters: a pattern of the names of the exporter's own pods, as its charts call them; containers: names of its containers.
    namespaces: of pods that reserve cards for others; others: a pattern of the names of pods that try a node out.
    """

    exporters: str = ""
    containers: frozenset[str] = frozenset()
    namespaces: frozenset[str] = frozenset()
    others: str = ""


class Holders:
    """Finds the holder of a row, under one context."""

    def __init__(self, context: Context, names: PodLabels, apart: NoHolders) -> None:
        self._context = context
        self._hidden = names.hidden
        self._exporters, self._others = re.compile(apart.exporters), re.compile(apart.others)
        self._containers, self._namespaces = apart.containers, apart.namespaces
        own = list(zip(names.pod, names.namespace, names.container, strict=True))
        self._names = [(f"exported_{pod}", namespace, container) for pod, namespace, container in own] + own
        self.uid = names.uid
        #: (namespace, pod) of targets: where a row names its pod by another label, `pod` is what Prometheus wrote.
        self.targets: set[tuple[str, str]] = set()
        self._kept: dict[Key, Key | int] = {}

    def of(self, labels: Mapping[str, str]) -> Key | int:
        """(namespace, pod, container), or what the row has instead: NOBODY, EXPORTER, NOT_A_USER, SEVERAL."""
        for pod_label, namespace_label, container_label in self._names:
            pod = labels.get(pod_label)
            if pod:
                if pod_label != "pod" and len(self.targets) < _KEPT:
                    self.targets.add((labels.get("namespace", ""), labels.get("pod", "")))
                # Each label is moved by itself where the target has one of that name.
                key = (
                    labels.get(f"exported_{namespace_label}") or labels.get(namespace_label, ""),
                    pod,
                    labels.get(f"exported_{container_label}") or labels.get(container_label, ""),
                )
                found = self._kept.get(key)
                return self._classify(key) if found is None else found
        return NOBODY

    def _classify(self, key: Key) -> Key | int:
        if len(self._kept) >= _KEPT:
            self._kept.clear()
        self._kept[key] = found = self._what(*key)
        return found

    def _what(self, namespace: str, pod: str, container: str) -> Key | int:
        if pod == self._hidden:
            return SEVERAL
        if not namespace or any(len(text) > _NAME_CHARS for text in (namespace, pod, container)):
            return NOBODY
        if (
            (namespace, pod) in self._context.exporters
            or container in self._containers
            or self._exporters.fullmatch(pod)
        ):
            return EXPORTER
        if namespace in self._namespaces or (namespace, pod) in self._context.ignored or self._others.fullmatch(pod):
            return NOT_A_USER
        return namespace, pod, container
