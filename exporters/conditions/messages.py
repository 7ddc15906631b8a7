"""The texts of conditions → entries with cards and codes. Every text is taken as it comes: nothing raises, and time is linear.

NVSentinel's form is `ErrorCode:119 PCI:0002:00:00 GPU_UUID:GPU-… text Recommended Action=COMPONENT_RESET;`, several after one
another. The text may hold ";" itself, so an entry ends at its action. Messages that grew too long are cut with "...".
Source: NVIDIA/NVSentinel at 227932c: platform-connectors/pkg/connectors/kubernetes/process_node_events.go.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec

from exporters.conditions.statement import MOST_ENTRIES, TEXT_CHARS, Entry, NamedCard
from exporters.engine.identity import index_of, normal_pci

#: NVSentinel's actions (`health_event.proto`) → ours; what is not here is told as it is written.
_ACTIONS: Mapping[str, str] = {
    "NONE": "",
    "COMPONENT_RESET": "reset",
    "CONTACT_SUPPORT": "support",
    "RESTART_VM": "restart-vm",
    "RESTART_BM": "reboot",
    "REPLACE_VM": "replace-machine",
    "RUN_FIELDDIAG": "run-diagnostic",
    "RUN_DCGMEUD": "run-diagnostic",
    "RESTART_APP": "restart-process",
    "UNKNOWN": "check-node",
}
_ACTION = re.compile(r"Recommended Action=([A-Za-z_0-9]{1,40})(?:;|$)")
_ENTITY = re.compile(r"([A-Za-z][A-Za-z_]{0,40}):(\S+)")
_CODE = re.compile(r"([0-9]{1,4})(?:\.\S*)?")
#: "XID 31", "XID-79", "Xid error 79", "Xid (PCI:0000:3b:00): 79"; an SXid is an error of a switch and no Xid.
_XID = re.compile(r"\bxid(?: error)?[ :=-]{0,3}(?:\(PCI:([0-9a-f:.]{1,32})\)[ :]{0,3})?([0-9]{1,4})\b", re.IGNORECASE)

#: Checks whose codes are Xids: "SysLogsXIDError", "RepeatedXIDError…"; those of "SysLogsSXIDError" are a switch's.
_XID_CHECK = re.compile(r"(?<!S)XID|GPUFallenOff")


def nvsentinel(check: str, message: str) -> tuple[tuple[Entry, ...], bool]:
    """(entries, whether the message was cut)."""
    entries: list[Entry] = []
    begin = 0
    for match in _ACTION.finditer(message):
        if len(entries) == MOST_ENTRIES:
            return tuple(entries), True
        if not match[0].endswith(";") and match[1] not in _ACTIONS:
            break  # half of an action
        entry = _entry(check, message[begin : match.start()], _ACTIONS.get(match[1], "check-node"))
        if match[1] not in _ACTIONS:
            entry = msgspec.structs.replace(entry, text=f"{entry.text} ({match[0].rstrip(';')})"[:TEXT_CHARS])
        entries.append(entry)
        begin = match.end()
    left = message[begin:].strip(" ;")
    if left:
        # What stands last may be half of a name, which would be another name.
        entries.append(_entry(check, " ".join(left.split()[:-1]), ""))
    return tuple(entries), bool(left)


def _entry(check: str, text: str, action: str) -> Entry:
    words = text.split()
    codes: list[str] = []
    cards: list[dict[str, str]] = [{}]
    parts: list[str] = []
    read = 0
    for word in words:
        match = _ENTITY.fullmatch(word)
        if match is None:
            break
        read += 1
        kind, value = match.groups()
        # The address after a switch is the switch's.
        field = _field(kind, value) if kind != "PCI" or not (parts and parts[-1].startswith("NVSWITCH:")) else ""
        if kind == "ErrorCode":
            codes.append(value)
        elif field:
            # The same kind once more is of the next card.
            if field in cards[-1]:
                cards.append({})
            cards[-1][field] = value
        else:
            parts.append(word)
    said = " ".join(words[read:])
    numbers = _codes(codes) if _XID_CHECK.search(check) else []
    return Entry(
        text=said[:TEXT_CHARS],
        codes=tuple(codes),
        xids=tuple(dict.fromkeys([*numbers, *(int(match[2]) for match in _XID.finditer(said))])),
        cards=tuple(card for card in map(_card, cards) if card is not None),
        parts=tuple(parts),
        action=action,
    )


def _field(kind: str, value: str) -> str:
    """Which name of a card an entity is; "" for none. Older messages have a UUID where there is a number today."""
    if kind == "GPU":
        return "index" if value.isdigit() else "uuid"
    return {"GPU_UUID": "uuid", "PCI": "pci"}.get(kind, "")


def _card(names: dict[str, str]) -> NamedCard | None:
    card = NamedCard(
        uuid=names["uuid"][:128] if "uuid" in names else None,
        pci=normal_pci(names.get("pci")),
        index=index_of(names.get("index")),
    )
    return card if card != NamedCard() else None


def _codes(codes: list[str]) -> list[int]:
    return [int(match[1]) for match in map(_CODE.fullmatch, codes) if match is not None]


def mentioned(message: str) -> tuple[Entry, ...]:
    """A text that names Xids somewhere: one entry for each of them, in order."""
    found: dict[tuple[int, str | None], Entry] = {}
    for match in _XID.finditer(message):
        code, pci = int(match[2]), normal_pci(match[1])
        if len(found) < MOST_ENTRIES:
            card = (NamedCard(pci=pci),) if pci else ()
            found.setdefault((code, pci), Entry(text=match[0], codes=(match[2],), xids=(code,), cards=card))
    return tuple(found.values())


def gke(reason: str) -> tuple[Entry, ...] | None:
    """GKE's reason is a JSON object whose keys are codes; None where it is none."""
    try:
        codes = msgspec.json.decode(reason[:TEXT_CHARS], type=dict[str, bool])
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return None
    numbers = sorted(_codes([code for code, holds in codes.items() if holds]))
    return tuple(Entry(text=str(code), codes=(str(code),), xids=(code,)) for code in numbers[:MOST_ENTRIES])


_EKS = re.compile(r"NvidiaXID([0-9]{1,4})(?:Error|Warning)")


def eks(reason: str, message: str) -> tuple[Entry, ...]:
    """EKS names one code in the reason; the message of a condition that stays has those of all that came."""
    named = _EKS.fullmatch(reason)
    entries = mentioned(message)
    if named is None or any(int(named[1]) in entry.xids for entry in entries):
        return entries
    return (Entry(text=reason, codes=(named[1],), xids=(int(named[1]),)), *entries)
