"""Which pod a row is of, and whether it is a user's.

With honorLabels false, Prometheus moves the exporter's own labels to `exported_pod` and writes the target's pod into `pod`;
with true, rows of idle cards can inherit the target's pod. So `exported_*` counts first, and the pod of an exporter is no
holder. Pods of reservations (KAI, run:ai) and validations hold a card and are no users either.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec

from inventory.usage.engine.context import Context

#: Names of pods and containers of exporters and of the device plugins that export, as their charts call them.
_EXPORTER = re.compile(
    r"(?:.*-)?(?:nvidia-)?dcgm-exporter(?:-.*)?|(?:.*-)?amdgpu-metrics-exporter(?:-.*)?|(?:.*-)?metrics-exporter(?:-ds)?-[a-z0-9]{5}"
    r"|(?:.*-)?nvidia-gpu-exporter(?:-.*)?|npu-exporter(?:-.*)?|(?:.*-)?xpumd(?:-.*)?|(?:.*-)?hami-device-plugin(?:-.*)?"
    r"|volcano-device-plugin(?:-.*)?|(?:.*-)?all-smi(?:-.*)?|(?:.*-)?windows-exporter(?:-.*)?|ack-gpu-exporter(?:-.*)?"
)
_EXPORTER_CONTAINERS = frozenset(
    (
        "dcgm-exporter",
        "nvidia-dcgm-exporter",
        "vgpu-monitor",
        "npu-exporter",
        "xpumd",
        "nvidia-gpu-exporter",
        "metrics-exporter-container",
    )
)
_RESERVATIONS = frozenset(("kai-resource-reservation", "runai-reservation"))
#: Pods of the GPU Operator that try a node out.
_VALIDATION = re.compile(r"nvidia-(?:cuda|device-plugin|operator|dra|toolkit|driver)-validat(?:or|ion)(?:-.*)?")
#: What an exporter writes for a pod that it does not name. MindCluster: several containers hold the card.
HIDDEN = "not_displayed_for_multi_pod"
#: Longest name of a namespace, pod or container.
_NAME_CHARS = 253
#: Classified pods that are kept; the bound is for hostile labels.
_KEPT = 400_000

#: (namespace, pod, container).
Key = tuple[str, str, str]
#: What the pod of a row is, where it is no user's.
NOBODY, EXPORTER, NOT_A_USER, SEVERAL = 0, 1, 2, 3


class PodLabels(msgspec.Struct, frozen=True, kw_only=True):
    """What an exporter calls the pod, by its own labels; of several names first those that no target has."""

    pod: tuple[str, ...] = ("pod",)
    namespace: tuple[str, ...] = ("namespace",)
    container: tuple[str, ...] = ("container",)
    uid: str = "pod_uid"


class Holders:
    """Finds the holder of a row, under one context."""

    def __init__(self, context: Context, names: PodLabels) -> None:
        self._context = context
        own = list(zip(names.pod, names.namespace, names.container, strict=True))
        self._names = [(f"exported_{pod}", namespace, container) for pod, namespace, container in own] + own
        self.uid = names.uid
        self._kept: dict[Key, Key | int] = {}

    def of(self, labels: Mapping[str, str]) -> Key | int:
        """(namespace, pod, container), or what the row has instead: NOBODY, EXPORTER, NOT_A_USER, SEVERAL."""
        for pod_label, namespace_label, container_label in self._names:
            pod = labels.get(pod_label)
            if pod:
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
        if pod == HIDDEN:
            return SEVERAL
        if not namespace or any(len(text) > _NAME_CHARS for text in (namespace, pod, container)):
            return NOBODY
        if (namespace, pod) in self._context.exporters or container in _EXPORTER_CONTAINERS or _EXPORTER.fullmatch(pod):
            return EXPORTER
        if namespace in _RESERVATIONS or (namespace, pod) in self._context.ignored or _VALIDATION.fullmatch(pod):
            return NOT_A_USER
        return namespace, pod, container
