"""What `kubectl inspect gpushare` would print of the same cluster, for scripts that read it.

It counts by rules of its own, which are not ours: limits instead of effective requests, the card total from allocatable, no
health, a pod on a card that does not exist counted here and not there. This follows those rules, byte for byte; the only thing
settled that was left to chance there is the order (nodes by name, cards by index). Cells end with tabs; who prints aligns them.
Source: cmd/inspect of gpushare-device-plugin 45fb8b8, its output as users recorded it. Takes decoded objects, no tables.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

import msgspec

from kube import quantity
from kube.objects import Node, Pod
from stacks.engine import stack
from stacks.engine.base import Context
from stacks.gpushare import declared
from stacks.gpushare.declared import Names

#: A pod without a card.
PENDING = -1
#: A node that claims more cards than this is shown with this many columns.
MAX_CARDS = 256
_ALLOCATION_V2 = "scheduler.framework.gpushare.allocation"
_INT = re.compile(r"[+-]?[0-9]{1,18}", re.ASCII)
_ENDED = ("Succeeded", "Failed")


@dataclass
class Device:
    """One card as the tool sees it: amounts in units, pods in order."""

    total: int
    used: int = 0
    pods: list[Pod] = field(default_factory=list)


@dataclass
class Report:
    """One node as the tool sees it. devices: by index; PENDING for pods without a card; also cards that do not exist."""

    name: str
    address: str
    count: int
    total: int
    devices: dict[int, Device]

    @property
    def pending(self) -> bool:
        return PENDING in self.devices

    @property
    def ordered(self) -> list[Device]:
        """Cards by index, pods without one last."""
        return [self.devices[index] for index in sorted(self.devices, key=lambda index: (index == PENDING, index))]


def summary(nodes: Iterable[Node], pods: Iterable[Pod], names: Names) -> str:
    """What it prints without -d."""
    reports = build(nodes, pods, names)
    columns = max((report.count for report in reports), default=0)
    pending = any(report.pending for report in reports)
    heads = ["NAME", "IPADDRESS", *(f"GPU{index}(Allocated/Total)" for index in range(columns))]
    heads += ["PENDING(Allocated)"] if pending else []
    lines = ["\t".join([*heads, f"GPU Memory({_unit(reports)})"])]
    used_in_cluster = total_in_cluster = rule = 0
    for report in reports:
        if report.total <= 0:
            continue
        row, used = _summary_row(report, columns, pending)
        lines.append(row)
        rule = rule or len(row.encode()) + 1 + 20
        used_in_cluster, total_in_cluster = used_in_cluster + used, total_in_cluster + report.total
    footer = f"{used_in_cluster}/{total_in_cluster} ({_percent(used_in_cluster, total_in_cluster)}%)\t"
    lines += ["-" * rule, "Allocated/Total GPU Memory In Cluster:", footer, ""]
    return "\n".join(lines)


def _summary_row(report: Report, columns: int, pending: bool) -> tuple[str, int]:
    """The line of a node and what it counts as used: only what has a column is counted."""
    shown = [report.devices.get(index) for index in range(columns)]
    waiting = report.devices.get(PENDING)
    cells = [report.name, report.address, *(f"{one.used}/{one.total}" if one else "0/0" for one in shown)]
    cells += [str(waiting.used) if waiting else ""] if pending else []
    used = sum(one.used for one in (*shown, waiting) if one)
    return "\t".join([*cells, f"{used}/{report.total}"]), used


def details(nodes: Iterable[Node], pods: Iterable[Pod], names: Names) -> str:
    """What it prints with -d."""
    lines: list[str] = []
    used_in_cluster = total_in_cluster = rule = 0
    for report in build(nodes, pods, names):
        if report.total <= 0:
            continue
        rows = _detail_rows(report, names)
        rule = rule or sum(len(row.encode()) + 1 for row in rows) + 10
        used = sum(device.used for device in report.devices.values())
        heads = ["NAME", "NAMESPACE", *(f"GPU{index}(Allocated)" for index in range(report.count))]
        heads += ["Pending(Allocated)"] if report.pending else []
        lines += ["", f"NAME:\t{report.name}", f"IPADDRESS:\t{report.address}", "", "\t".join([*heads, ""]), *rows]
        lines += [f"Allocated :\t{used} ({_percent(used, report.total)}%)\t", f"Total :\t{report.total} \t", "-" * rule]
        used_in_cluster, total_in_cluster = used_in_cluster + used, total_in_cluster + report.total
    footer = f"{used_in_cluster}/{total_in_cluster} ({_percent(used_in_cluster, total_in_cluster)}%)\t"
    lines += ["", "", f"Allocated/Total GPU Memory In Cluster:\t{footer}", ""]
    return "\n".join(lines)


def _detail_rows(report: Report, names: Names) -> list[str]:
    """One line per pod, one column per card."""
    rows: dict[str, str] = {}
    columns = report.count + 1 if report.pending else report.count
    for device in report.ordered:
        for pod in device.pods:
            meta = pod.metadata
            cells = [meta.name, meta.namespace, *(str(amount) for amount in _amounts(pod, report, columns, names))]
            rows.setdefault(meta.uid or f"{meta.namespace}/{meta.name}", "\t".join([*cells, ""]))
    return list(rows.values())


def _amounts(pod: Pod, report: Report, columns: int, names: Names) -> list[int]:
    placed = allocation_v2(pod)
    if placed:
        return [placed.get(column, 0) for column in range(columns)]
    index = _index_v1(pod, names)
    place = report.count if index == PENDING else index
    return [requested(pod, names) if column == place else 0 for column in range(columns)]


def build(nodes: Iterable[Node], pods: Iterable[Pod], names: Names) -> list[Report]:
    """The nodes by name, each with its devices and the pods bound to it that have not ended."""
    bound: dict[str, list[Pod]] = {}
    for pod in sorted(pods, key=lambda pod: (pod.metadata.namespace, pod.metadata.name)):
        phase = pod.status.phase if pod.status else None
        if pod.spec and pod.spec.nodeName and phase not in _ENDED:
            bound.setdefault(pod.spec.nodeName, []).append(pod)
    ordered = sorted(nodes, key=lambda node: node.metadata.name)
    return [_report(node, bound.get(node.metadata.name, []), names) for node in ordered]


def _report(node: Node, pods: list[Pod], names: Names) -> Report:
    total, count = memory_of(node, names), min(_allocatable(node, names.cards), MAX_CARDS)
    each = total // count if count else 0
    devices = {index: Device(each) for index in range(count)}
    for pod in pods if total > 0 else ():
        amount = requested(pod, names)
        if amount <= 0:
            continue
        for index, units in (allocation_v2(pod) or {_index_v1(pod, names): amount}).items():
            device = devices.setdefault(index, Device(each))
            device.used += units
            device.pods.append(pod)
    return Report(node.metadata.name, _address(node), count, total, devices)


def memory_of(node: Node, names: Names) -> int:
    """Allocatable units; the tool lists nodes that have any."""
    return _allocatable(node, names.memory)


def requested(pod: Pod, names: Names) -> int:
    """Sum of the limits of the containers; init containers do not count."""
    containers = (pod.spec.containers if pod.spec else None) or []
    limits = [container.resources.limits or {} for container in containers if container.resources]
    return sum(quantity.parse(limit.get(names.memory)) or 0 for limit in limits)


def allocation_v2(pod: Pod) -> dict[int, int]:
    """Card → units from the v2 annotation; nothing when there is none or it is not what it should be."""
    text = (pod.metadata.annotations or {}).get(_ALLOCATION_V2)
    if text is None:
        return {}
    try:
        containers = msgspec.json.decode(text, type=dict[int, dict[str, int | None] | None] | None)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return {}
    found: dict[int, int] = {}
    for cards in (containers or {}).values():
        for index, units in (cards or {}).items():
            if not _INT.fullmatch(index):
                return {}
            found[int(index)] = found.get(int(index), 0) + (units or 0)
    return found


def _index_v1(pod: Pod, names: Names) -> int:
    text = (pod.metadata.annotations or {}).get(f"{names.annotation}_IDX", "")
    return int(text) if _INT.fullmatch(text) else PENDING


def _allocatable(node: Node, resource: str) -> int:
    amounts = (node.status.allocatable if node.status else None) or {}
    return quantity.parse(amounts.get(resource)) or 0


def _address(node: Node) -> str:
    addresses = (node.status.addresses if node.status else None) or []
    return next((one.address for one in addresses if one.type == "InternalIP"), "unknown")


def _unit(reports: list[Report]) -> str:
    """One for the whole cluster, guessed from the first node with cards: more than 100 a card is MiB."""
    first = next((report for report in reports if report.total > 0 and report.count), None)
    if first is None:
        return ""
    return "MiB" if first.total // first.count > 100 else "GiB"


def _percent(used: int, total: int) -> int:
    return int(used / total * 100) if total > 0 else 0


def _contains(context: Context) -> str:
    return declared.names(context).memory


def _has(node: Node, context: Context) -> bool:
    return memory_of(node, declared.names(context)) > 0


def _text(nodes: list[Node], pods: list[Pod], with_details: bool, context: Context) -> str:
    return (details if with_details else summary)(nodes, pods, declared.names(context))


REPORT = stack.ToolOutput(contains=_contains, has=_has, text=_text)
