"""The components of one cluster as rows say them: `components -o json` in pieces, and as tables for people. null means unknown.

Only rows are read, in a constant number of queries: of 5,000 nodes at most the names are held at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any

import msgspec

from inventory.components import completed
from inventory.models import Cluster, DaemonSet, Node
from inventory.models import Component as Row
from resources.component import Component
from resources.declared import part_of
from stacks.engine.software.base import NOT_NEEDED, OUTDATED, READY, Statement
from wording.columns import aligned, row

#: What is printed of each component: fields of REST's. Their names are an interface: add, never rename.
_FIELDS = (
    *("state", "version", "wanted", "waiting_for", "container", "exit_code", "why", "warnings", "remedy", "since"),
    "source",
)
_component = part_of(Component, _FIELDS)
_COLUMNS = ("node_name", "name", "first_cause", *_FIELDS)
_BATCH = 5000


class NodeComponents(msgspec.Struct, frozen=True):
    """components: in the order of blame, with those of the cluster's stacks that the node does not need."""

    first_cause: str | None
    components: dict[str, Component]


class Software:
    """Components of one cluster. `cluster`: what it has once. `nodes()`: (name, what is true there), in the order of names."""

    def __init__(self, cluster: Cluster, node: str | None = None) -> None:
        self._cluster, self._node = cluster, node
        rows = Row.objects.filter(cluster=cluster, node_name="").order_by("position", "id")
        self.cluster = {one[1]: _of_row(one) for one in rows.values_list(*_COLUMNS)}
        #: Of a node without rows: what each component of the cluster's stacks is there.
        self.nothing = {name: _of_none(one) for name, one in completed({}, self._in_cluster()).items()}
        self._order = {name: place for place, name in enumerate(self.nothing)}

    def _in_cluster(self) -> set[str]:
        """Names of components of nodes that the cluster has, by rows and by DaemonSets."""
        of_nodes = Row.objects.filter(cluster=self._cluster).exclude(node_name="")
        sets = DaemonSet.objects.filter(cluster=self._cluster).exclude(component="")
        return {
            *of_nodes.order_by().values_list("name", flat=True).distinct(),
            *sets.order_by().values_list("component", flat=True).distinct(),
        }

    def nodes(self) -> Iterator[tuple[str, NodeComponents]]:
        only = {} if self._node is None else {"name": self._node}
        names = list(Node.objects.filter(cluster=self._cluster, **only).order_by("name").values_list("name", flat=True))
        places = {name: place for place, name in enumerate(names)}
        rows = Row.objects.filter(cluster=self._cluster).exclude(node_name="")
        if self._node is not None:
            rows = rows.filter(node_name=self._node)
        told = 0
        ordered = rows.order_by("node_name", "position", "id").values_list(*_COLUMNS)
        for name, mine in groupby(ordered.iterator(_BATCH), key=itemgetter(0)):
            # Both are in the database's order of names; rows of a node that has just gone are left out.
            if (place := places.get(name, -1)) < told:
                continue
            for without in names[told:place]:
                yield without, self._completed([])
            yield name, self._completed(list(mine))
            told = place + 1
        for without in names[told:]:
            yield without, self._completed([])

    def _completed(self, rows: list[tuple[Any, ...]]) -> NodeComponents:
        found = {one[1]: one for one in rows}
        if not found:
            return NodeComponents(None, self.nothing)
        cause = next((name for name, one in found.items() if one[2]), None)
        made = {name: _of_row(one) for name, one in found.items()}
        made |= {name: one for name, one in self.nothing.items() if name not in made}
        return NodeComponents(cause, dict(sorted(made.items(), key=lambda one: self._order.get(one[0], -1))))


def _of_row(columns: tuple[Any, ...]) -> Component:
    """ "" of the table (not known) becomes None."""
    return _component(*(None if value == "" else value for value in columns[3:]))


def _of_none(found: Statement) -> Component:
    """What is true of a component that a node has no row of."""
    known: dict[str, Any] = {"state": found.state, "why": str(found.why) or None, "warnings": []}
    return _component(*(known.get(name) for name in _FIELDS))


# JSON.


def as_json(software: Software) -> Iterator[str]:
    """The whole as indented JSON, in pieces."""
    yield f'{{\n  "cluster": {_indented(software.cluster, 1)},\n  "nodes": {{'
    separator, nothing = "", _indented(NodeComponents(None, software.nothing), 2)
    for name, found in software.nodes():
        text = nothing if found.components is software.nothing else _indented(found, 2)
        yield f"{separator}\n    {_json(name)}: {text}"
        separator = ","
    yield "\n  }\n}\n" if separator else "}\n}\n"


def _indented(value: object, depth: int) -> str:
    """As it stands `depth` objects deep."""
    return msgspec.json.format(_json(value)).replace("\n", "\n" + "  " * depth)


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()


# Text.

_HEADS = "  COMPONENT\tSTATE\tVERSION\tWHY"


def blocks(software: Software, cluster: str) -> Iterator[str]:
    """What the cluster has once, then a table for each node."""
    lines = [f"Cluster {cluster}"]
    if software.cluster:
        lines += _table(software.cluster)
        remedies = ((name, one.remedy) for name, one in software.cluster.items() if one.remedy)
        lines += [row([f"  Remedy for {name}: {text}"]) for name, text in remedies]
    else:
        lines.append("  No components of the cluster.")
    yield _block(lines)
    empty = True
    for name, found in software.nodes():
        yield _block(["", *_node(name, found, software)])
        empty = False
    if empty:
        yield _block(["", "No nodes found."])


def _node(name: str, found: NodeComponents, software: Software) -> Iterator[str]:
    cause = found.components.get(found.first_cause or "")
    if found.components is software.nothing:
        yield row([f"{name}: no GPU software is needed"])
        return
    yield row([f"{name}: " + (f"first cause: {found.first_cause}, {cause.state}" if cause else "no first cause")])
    # Of stacks that have nothing to do with the node there are no rows: JSON has them.
    yield from _table({key: one for key, one in found.components.items() if one is not software.nothing.get(key)})
    if cause is not None and cause.remedy:
        yield row([f"  Remedy: {cause.remedy}"])


def _table(components: dict[str, Component]) -> Iterator[str]:
    """What is not needed stands in one line behind the others, but for what is there all the same: a driver of the host."""
    apart = [name for name, one in components.items() if one.state == NOT_NEEDED and not one.version]
    if len(apart) < len(components):
        yield _HEADS
    for name, one in components.items():
        if one.state != NOT_NEEDED or one.version:
            yield row([f"  {name}", one.state, _version(one), one.why or "-"])
            for text in one.warnings:
                yield row(["  ", "", "", f"Warning: {text}"])
    if apart:
        yield row([f"  Not needed: {', '.join(apart)}"])


def _version(one: Component) -> str:
    version = one.version or ("unknown" if one.state in (READY, OUTDATED) else "-")
    return f"{version}, wanted {one.wanted}" if one.wanted else version


def _block(lines: list[str]) -> str:
    return "\n".join(line.rstrip() for line in aligned("\n".join(lines)).split("\n"))
