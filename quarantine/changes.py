"""What is changed on a node, from what it is now and which cases it is to be marked for. Pure: no table, no call.

Taints are one list for the API server, so a patch carries all of them and the version that was read (`metadata.resourceVersion`):
where another writer was faster it is refused with 409, and the node is read again. What others put there stays as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from shlex import quote
from typing import Any

import msgspec

from inventory.marks import ANNOTATION, TAINT
from inventory.marks.our_cases import our_cases

EFFECT = "NoSchedule"
Json = dict[str, Any]


class NodeNow(msgspec.Struct, frozen=True, kw_only=True):
    """Of a node, what is compared. taints: as the API server gave them. why: our annotation; None where there is none.

    foreign_cordon: another tool or person is known to keep it cordoned. upgrade: the state of a driver upgrade, "" for none.
    """

    name: str
    uid: str = ""
    version: str = ""
    unschedulable: bool = False
    taints: tuple[Json, ...] = ()
    why: str | None = None
    foreign_cordon: bool = False
    upgrade: str = ""

    @property
    def tainted_for(self) -> str | None:
        """The value of our taint, None where there is none."""
        return next((str(one.get("value") or "") for one in self.taints if _is_ours(one)), None)

    @property
    def cases(self) -> frozenset[str]:
        """Ids of the cases that our marks name."""
        return frozenset(filter(None, (self.tainted_for, *(one.id for one in our_cases(self.why)))))


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One case, as our annotation has it. was: of the node before."""

    id: str
    by: str
    at: str
    reason: str
    run: str
    card: str
    how: str
    was: Json


def was_of(now: NodeNow) -> Json:
    """What stood there before, without ours."""
    kept = ("key", "value", "effect")
    others = [{name: one[name] for name in kept if one.get(name)} for one in now.taints if not _is_ours(one)]
    return {"unschedulable": now.unschedulable, "taints": others[:100]}


def patch(now: NodeNow, entries: Sequence[Entry], cordon: bool | None) -> Json | None:
    """The merge patch after which the node is marked for these cases alone; None where it is so already.

    cordon: True to cordon, False to uncordon, None to leave that as it is.
    """
    others = [one for one in now.taints if not _is_ours(one)]
    mine = [one for one in now.taints if _is_ours(one)]
    wanted: list[Json] = []
    if entries:
        ids = [one.id for one in entries]
        value = now.tainted_for if now.tainted_for in ids else ids[0]
        wanted = [{"key": TAINT, "value": value, "effect": EFFECT}]
    metadata: Json = {}
    spec: Json = {}
    if [_plain(one) for one in mine] != wanted:
        spec["taints"] = [*others, *wanted] or None
    if (why := annotation(entries)) != now.why:
        metadata["annotations"] = {ANNOTATION: why}
    if cordon is not None and cordon != now.unschedulable:
        spec["unschedulable"] = cordon or None
    if not metadata and not spec:
        return None
    return {"metadata": metadata | {"uid": now.uid, "resourceVersion": now.version}} | ({"spec": spec} if spec else {})


def annotation(entries: Sequence[Entry]) -> str | None:
    """The text of our annotation; None for no case. Sorted: databases give JSON objects back in an order of their own."""
    if not entries:
        return None
    cases = [msgspec.to_builtins(one) for one in entries]
    return msgspec.json.encode({"cases": cases}, order="sorted").decode()


def commands(node: str, made: Json | None) -> list[str]:
    """Lines of kubectl that change the same as the patch does, and nothing else even where the node has changed meanwhile."""
    if made is None:
        return []
    name, spec = quote(node), made.get("spec", {})
    found: list[str] = []
    if "taints" in spec:
        mine = [one for one in spec["taints"] or () if _is_ours(one)]
        what = f"{TAINT}={mine[0]['value']}:{EFFECT}" if mine else f"{TAINT}:{EFFECT}-"
        found.append(f"kubectl taint node {name} {what}" + (" --overwrite" if mine else ""))
    if "annotations" in made["metadata"]:
        why = made["metadata"]["annotations"][ANNOTATION]
        found.append(
            f"kubectl annotate node {name} {ANNOTATION}" + (f"={quote(why)} --overwrite" if why is not None else "-")
        )
    if "unschedulable" in spec:
        found.append(f"kubectl {'cordon' if spec['unschedulable'] else 'uncordon'} {name}")
    return found


def _is_ours(taint: Json) -> bool:
    """Ours whatever its effect: a person or tool may have changed it, and it must not stay."""
    return taint.get("key") == TAINT


def _plain(taint: Json) -> Json:
    return {name: taint.get(name) or "" for name in ("key", "value", "effect")}
