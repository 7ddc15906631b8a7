"""Cards that gpushare's scheduler leaves out: a ConfigMap for each node, which somebody outside of gpushare writes.

`kube-system/unhealthy-gpu-<node>`, key `gpus`: numbers of cards with commas between. The scheduler reads what is no number as card 0,
and so it is read here: what counts is what is given out. Source: gpushare-scheduler-extender 2ee4f0d (pkg/cache/nodeinfo.go).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from kube.config_maps import ConfigMap
from kube.objects import DaemonSet
from stacks.engine.base import WARNING, Context, Finding, Selection
from stacks.engine.config_maps import said_of_node
from stacks.engine.names import MAX_CARDS
from stacks.engine.stack import ConfigMaps
from stacks.gpushare.declared import PLUGIN
from stacks.shared.plugin_daemonsets import of
from wording.said import gettext_noop, sentence

STACK, NAMESPACE, PREFIX, KEY = "gpushare", "kube-system", "unhealthy-gpu-", "gpus"
_NUMBER = re.compile(r"[+-]?[0-9]+", re.ASCII)
#: Entries that are looked at; a node has fewer cards.
_MOST = 4 * MAX_CARDS
_SHOWN = 80


class LeftOut(NamedTuple):
    """cards: their numbers. misread: entries that are no number, which the scheduler takes for card 0."""

    cards: frozenset[int] = frozenset()
    misread: tuple[str, ...] = ()


def place(node: str) -> str:
    return f"{NAMESPACE}/{PREFIX}{node}"


def left_out(context: Context, node: str) -> LeftOut:
    """What the mirror has of the node's ConfigMap; nothing where there is none, or where it has no such key."""
    text = (said_of_node(context, STACK, node) or {}).get(KEY)
    return _read(text) if text is not None else LeftOut()


def _read(text: str) -> LeftOut:
    entries = text.split(",", _MOST)[:_MOST]
    misread = tuple(entry for entry in entries if not _NUMBER.fullmatch(entry))
    numbers = (int(entry[:12]) for entry in entries if _NUMBER.fullmatch(entry))
    return LeftOut(frozenset((*numbers, *([0] if misread else []))), misread)


def findings(found: LeftOut, node: str) -> list[Finding]:
    if not found.misread:
        return []
    entries = ", ".join(f'"{entry[:_SHOWN]}"' for entry in found.misread[:4])
    text = sentence(
        "The ConfigMap {node} has {entries} among its cards. The scheduler reads invalid numbers as card 0 and does "
        "not allocate card 0. Write numbers with commas and no blanks, or delete the ConfigMap if all cards are "
        "healthy.",
        node=place(node),
        entries=entries,
    )
    return [Finding(code="annotation-unreadable", severity=WARNING, text=text)]


def _wanted(daemonsets: tuple[DaemonSet, ...]) -> Iterable[Selection]:
    return [Selection(STACK, NAMESPACE, prefix=PREFIX)] if of(daemonsets, PLUGIN) else []


def _kept(found: ConfigMap, keys: tuple[str, ...]) -> dict[str, str]:
    text = (found.data or {}).get(KEY)
    return {KEY: text} if text is not None else {}


def _node_of(found: ConfigMap) -> str:
    return found.metadata.name.removeprefix(PREFIX)


CONFIG_MAPS = ConfigMaps(
    wanted=_wanted,
    kept=_kept,
    node_of=_node_of,
    read_for=gettext_noop("cards that the gpushare scheduler excludes as unhealthy"),
    role="deploy/watcher-role-gpushare.yaml",
)
