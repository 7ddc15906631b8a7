"""Reads one golden case of the card model: recorded API objects beside the account that they must give.

A case is a folder: node.json, pods.json, optionally daemonsets.json, configmaps.json (of which the mirror keeps what the DaemonSets
have it read), device.json, slices.json, taint_rules.json and claims.json (dynamic resource allocation), measured.json (cards and
holders as an exporter names them) and context.json (settings), and expected.json.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from kube.claims import DeviceTaintRule, ResourceClaim, ResourceSlice
from kube.config_maps import ConfigMap
from kube.devices import Device
from kube.objects import DaemonSet, Node, Pod
from stacks.engine.base import Context, MeasuredCard, NodeReport
from stacks.engine.config_maps import selections, trim_config_map

GOLDEN = Path(__file__).parent / "golden"
#: The clock of every case, unless its context.json sets another.
NOW = 1_700_000_000.0


class Case(NamedTuple):
    """The decoded input of one case."""

    node: Node
    pods: list[Pod]
    context: Context


def names() -> list[str]:
    """All cases, by the names of their folders."""
    return sorted(folder.name for folder in GOLDEN.iterdir() if (folder / "node.json").exists())


def load(name: str) -> Case:
    """Decode a case the way the product decodes API bytes."""
    folder = GOLDEN / name
    pods = msgspec.json.decode((folder / "pods.json").read_bytes(), type=list[Pod])
    settings: dict[str, Any] = {"now": NOW}
    if (folder / "context.json").exists():
        settings |= json.loads((folder / "context.json").read_text())
    if "settings" in settings:
        settings["settings"] = tuple(settings["settings"].items())
    if "known_uuids" in settings:
        settings["known_uuids"] = tuple(settings["known_uuids"])
    if (folder / "daemonsets.json").exists():
        found = msgspec.json.decode((folder / "daemonsets.json").read_bytes(), type=list[DaemonSet])
        settings["daemonsets"] = tuple(found)
    if (folder / "configmaps.json").exists():
        maps = msgspec.json.decode((folder / "configmaps.json").read_bytes(), type=list[ConfigMap])
        settings |= config_maps(maps, settings.get("daemonsets", ()))
    if (folder / "device.json").exists():
        settings["device"] = msgspec.json.decode((folder / "device.json").read_bytes(), type=Device)
    if (folder / "slices.json").exists():
        settings["slices"] = tuple(msgspec.json.decode((folder / "slices.json").read_bytes(), type=list[ResourceSlice]))
        settings["claims_read"] = True
    if (folder / "taint_rules.json").exists():
        rules = msgspec.json.decode((folder / "taint_rules.json").read_bytes(), type=list[DeviceTaintRule])
        settings["taint_rules"] = tuple(rules)
    if (folder / "claims.json").exists():
        settings["claims"] = tuple(msgspec.json.decode((folder / "claims.json").read_bytes(), type=list[ResourceClaim]))
    if (folder / "measured.json").exists():
        said = msgspec.json.decode((folder / "measured.json").read_bytes(), type=list[MeasuredCard])
        settings["measured"] = tuple(said)
    return Case(msgspec.json.decode((folder / "node.json").read_bytes(), type=Node), pods, Context(**settings))


def config_maps(found: list[ConfigMap], daemonsets: tuple[DaemonSet, ...]) -> dict[str, Any]:
    """What a context has of them: those that these DaemonSets name, trimmed as the mirror trims them."""
    chosen = selections(daemonsets)
    kept = tuple(read for one in found if (read := trim_config_map(one, chosen)) is not None)
    return {"config_maps": kept, "selections": chosen}


def rendered(account: NodeReport) -> str:
    """The account as JSON that is pleasant to read in a diff: one line per card, allocation and finding."""
    flat: dict[str, Any] = msgspec.to_builtins(account, enc_hook=str)
    flat["cards"] = [
        item["card"] | {"allocated_bytes": item["memory_allocated_bytes"], "held_by": item["allocations"]}
        for item in flat["cards"]
    ]
    if not flat["rooms"]:
        del flat["rooms"]  # of most nodes no card is cut
    else:
        fits = [{one["profile"]: [one["sure"], one["most"]] for one in room["fits"]} for room in flat["rooms"]]
        flat["rooms"] = [room | {"fits": fit} for room, fit in zip(flat["rooms"], fits, strict=True)]
        for room in flat["rooms"]:
            _ = room["made"] or room.pop("made")
    lines = []
    for key, value in flat.items():
        if isinstance(value, list | tuple) and value and isinstance(value[0], dict):
            inner = ",\n".join("    " + json.dumps(_said(item), ensure_ascii=False) for item in value)
            lines.append(f"  {json.dumps(key)}: [\n{inner}\n  ]")
        else:
            lines.append(f"  {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _statement(told: dict[str, Any]) -> str:
    """Without the sentence, which its code stands for."""
    since = f" since {told['since']:.0f}" if told.get("since") is not None else ""
    return f"{told['source']}: {told['level']}, {told['code']} ({told.get('text', '')}){since}"


def _said(item: dict[str, Any]) -> dict[str, Any]:
    """Without what is empty text or no index; numbers that are not known stay as null."""
    short = {key: value for key, value in item.items() if value != "" and (value is not None or key.endswith("_bytes"))}
    if not short.get("told"):
        short.pop("told", None)  # nobody says anything of the card's health
    else:
        short["told"] = [_statement(one) for one in short["told"]]
    if "held_by" in short:
        short["held_by"] = [_said(held) for held in short["held_by"]]
    return short
