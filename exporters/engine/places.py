"""Which node a row is of. It is found out by looking which label has the name of a node that is known, never by a label's name.

`Hostname` may be the name of the exporter's pod, `instance` an address or a name, `node` that of whoever relabelled. So labels
are only candidates, in this order; the first one whose value is a node counts.
"""

from __future__ import annotations

from collections.abc import Mapping

from exporters.engine.context import Context

#: Candidates. Those that relabelling adds from the target's pod come before those that an exporter writes itself.
NODE_LABELS = (
    "node",
    "kubernetes_node",
    "nodename",
    "node_name",
    "NodeName",
    "kubernetes_io_hostname",
    "exported_node",
    "nodeid",
    "NodeID",
    "Hostname",
    "hostname",
    "host",
    "exported_hostname",
    "exported_instance",
    "instance",
)
#: Answers of look-ups are kept; the bound is for hostile labels.
_KEPT = 100_000


class Places:
    """Finds nodes by labels, under one context."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._short: dict[str, str | None] = {}
        for name in context.nodes:
            short = name.partition(".")[0].lower()
            self._short[short] = None if short in self._short else name
        self._known: dict[str, str | None] = {}

    def node(self, labels: Mapping[str, str]) -> tuple[str | None, str]:
        """(node, the label that named it); (None, "") where none of the labels does."""
        if self._context.node:
            return self._context.node, ""
        for label in NODE_LABELS:
            text = labels.get(label)
            if text:
                node = self.named(text)
                if node is not None:
                    return node, label
        node = self._context.exporters.get((labels.get("namespace", ""), labels.get("pod", "")))
        return node, "pod" if node is not None else ""

    def named(self, text: str) -> str | None:
        """The node that a text names: its name, its short name where only one has it, an address with or without a port."""
        if text in self._context.nodes:
            return text
        found = self._known.get(text, "")
        if found != "":
            return found
        if len(self._known) >= _KEPT:
            self._known.clear()
        self._known[text] = node = self._look(text)
        return node

    def _look(self, text: str) -> str | None:
        host = _host(text)
        context = self._context
        if host in context.nodes:
            return host
        if host in context.addresses:
            return context.addresses[host]
        lowered = host.lower()
        if lowered in context.nodes:
            return lowered
        # The part before the first dot is a name only where it is not that of an address.
        short = lowered.partition(".")[0]
        return self._short.get(short) if short and not short.isdigit() else None


def _host(text: str) -> str:
    """Without a port: "10.0.0.1:9400", "[fd00::1]:9400", "gpu-1:9400"."""
    if text.startswith("["):
        return text[1:].partition("]")[0]
    host, colon, port = text.rpartition(":")
    return host if colon and port.isdigit() and ":" not in host else text
