"""What the Ascend device plugin tells of the chips of its node: a ConfigMap for each node, which ones there are and what is wrong.

Lists of chips by name: those that are free (held ones are missing), not healthy, without network, recovering; those that were set
apart; and the faults. Written when something changed, and each five minutes.
Source: Ascend/mind-cluster 22bb3d98 (component/ascend-device-plugin, docs/en/scheduling/api/ascend_device_plugin.md).
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable
from functools import lru_cache

import msgspec

from kube.config_maps import ConfigMap
from kube.decoders import decoder
from kube.objects import DaemonSet
from stacks.engine.base import WARNING, Context, Finding, Selection
from stacks.engine.config_maps import said_of_node
from stacks.engine.names import too_long
from stacks.engine.stack import ConfigMaps, Entry
from stacks.shared.plugin_daemonsets import of
from wording.said import gettext_noop, sentence, series

NAME, PLUGIN = "ascend", "ascend-device-plugin"
#: All that the plugin writes for other parts of MindCluster carries the label; the name says of which node it is.
NAMESPACE, LABEL, PREFIX = "kube-system", "mx-consumer-cim=true", "mindx-dl-deviceinfo-"
_KEY, _APART = "DeviceInfoCfg", "ManuallySeparateNPU"
#: Ends of the names of lists, and what they mean; those without such an end are the chips that are free.
_UNHEALTHY, _NETWORK, _RECOVERING, _FAULT = "-Unhealthy", "-NetworkUnhealthy", "-Recovering", "-Fault"
_LIST = re.compile(r"huawei\.com/(?:Ascend(?:910|310P|310)|npu)(-Unhealthy|-NetworkUnhealthy|-Recovering|-Fault)?")
_CHIP = re.compile(r"(?:Ascend(?:910|310P|310)|npu)-([0-9]{1,4})")
_CODES = re.compile(r"[0-9A-Fa-f]{1,16}(?:,[0-9A-Fa-f]{1,16}){0,31}")
_LEVEL = re.compile(r"[A-Za-z]{1,40}")
_MOST = 256

FINDINGS = {
    "chip-fault": Entry(
        gettext_noop("Chip fault reported"),
        WARNING,
        gettext_noop("The device plugin reports a fault of a chip, or has taken the chip out of service."),
        gettext_noop(
            "Look up the fault code in the table of the vendor. To put a chip back into service, remove its name from "
            "ManuallySeparateNPU."
        ),
    )
}


class Fault(msgspec.Struct, frozen=True):
    """codes: of the vendor, as it writes them. level: what the plugin does about it."""

    chip: str
    codes: str
    level: str


class Chips(msgspec.Struct, frozen=True):
    """What is told of a node's chips, by their numbers. named: all that are named anywhere."""

    named: tuple[str, ...] = ()
    unhealthy: tuple[str, ...] = ()
    network: tuple[str, ...] = ()
    recovering: tuple[str, ...] = ()
    apart: tuple[str, ...] = ()
    faults: tuple[Fault, ...] = ()


class _Fault(msgspec.Struct):
    npu_name: str = ""
    fault_level: str = ""
    fault_code: str = ""


class _Device(msgspec.Struct):
    DeviceList: dict[str, str] | None = None


class _Info(msgspec.Struct):
    DeviceInfo: _Device | None = None


_info = decoder(_Info)
_faults = decoder(list[_Fault] | None)
_stored = decoder(Chips)


def _wanted(daemonsets: tuple[DaemonSet, ...]) -> Iterable[Selection]:
    return [Selection(NAME, NAMESPACE, label=LABEL)] if of(daemonsets, PLUGIN) else []


def _node_of(found: ConfigMap) -> str:
    name = found.metadata.name
    return name.removeprefix(PREFIX) if name.startswith(PREFIX) else ""


def _kept(found: ConfigMap, keys: tuple[str, ...]) -> dict[str, str]:
    """The chips by their lists; without the time of writing, which moves while nothing happens."""
    data = found.data or {}
    if not _node_of(found) or _KEY not in data:
        return {}
    chips = _chips(data[_KEY], data.get(_APART, ""))
    return {"chips": msgspec.json.encode(chips).decode() if chips is not None else ""}


def _chips(text: str, apart: str) -> Chips | None:
    """None where the text is not of this form."""
    try:
        lists = _info.decode(text).DeviceInfo
    except (msgspec.MsgspecError, RecursionError, ValueError):
        return None
    if lists is None or lists.DeviceList is None:
        return None
    by_end: dict[str, list[str]] = {}
    faults: list[Fault] = []
    for key, value in sorted(lists.DeviceList.items()):
        match = _LIST.fullmatch(key)
        if match is not None and match[1] == _FAULT:
            faults += _read_faults(value)
        elif match is not None:
            by_end.setdefault(match[1] or "", []).extend(_numbers(value))
    by_end["apart"] = _numbers(apart)
    return Chips(
        named=_sorted(number for numbers in by_end.values() for number in numbers),
        unhealthy=_sorted(by_end.get(_UNHEALTHY, ())),
        network=_sorted(by_end.get(_NETWORK, ())),
        recovering=_sorted(by_end.get(_RECOVERING, ())),
        apart=_sorted(by_end["apart"]),
        faults=tuple(faults[:_MOST]),
    )


def _sorted(numbers: Iterable[str]) -> tuple[str, ...]:
    """Each once, in an order of their own: what is kept must not move while nothing happens."""
    return tuple(sorted(set(numbers), key=int)[:_MOST])


def _numbers(value: str) -> list[str]:
    """The numbers of whole chips in a list of names; parts of chips are left out."""
    found = (_CHIP.fullmatch(part.strip()) for part in value.split(",", _MOST)[:_MOST])
    return [str(int(match[1])) for match in found if match is not None]


def _read_faults(value: str) -> list[Fault]:
    try:
        found = _faults.decode(value) or []
    except (msgspec.MsgspecError, RecursionError, ValueError):
        return []
    read = []
    for one in found[:_MOST]:
        chip = _CHIP.fullmatch(one.npu_name)
        codes = one.fault_code if _CODES.fullmatch(one.fault_code) else ""
        level = one.fault_level if _LEVEL.fullmatch(one.fault_level) else ""
        if chip is not None and (codes or level):
            read.append(Fault(str(int(chip[1])), codes, level))
    return read


@lru_cache(maxsize=256)
def _decoded(text: str) -> Chips | None:
    try:
        return _stored.decode(text)
    except msgspec.MsgspecError:
        return None


def chips_of(context: Context, node: str) -> Chips | None:
    """What the plugin tells of the chips of a node; None where the mirror has nothing of it, or it cannot be read."""
    said = said_of_node(context, NAME, node)
    text = (said or {}).get("chips", "")
    return _decoded(text) if text and not too_long(text) else None


def _fault(codes: str, level: str) -> str:
    return sentence("{codes} ({level})", codes=codes or sentence("no code"), level=level or sentence("no level"))


def findings(context: Context, node: str, keys: Container[str]) -> list[Finding]:
    """One for each chip that something is wrong with; keys: of cards. And one where what the plugin tells cannot be read."""
    place, chips = f"{NAMESPACE}/{PREFIX}{node}", chips_of(context, node)
    if said_of_node(context, NAME, node) is None:
        return []
    if chips is None:
        text = sentence(
            "The ConfigMap {place} is invalid. Faults of chips are unknown. Check the device plugin log.",
            place=place,
        )
        return [Finding(code="annotation-unreadable", severity=WARNING, text=text)]
    words = {
        sentence("is unhealthy"): chips.unhealthy,
        sentence("is out of service"): chips.apart,
        sentence("has no network"): chips.network,
        sentence("is recovering"): chips.recovering,
    }
    wrong = _sorted((*(one for chosen in words.values() for one in chosen), *(one.chip for one in chips.faults)))
    found = []
    for number in wrong:
        said = [word for word, chosen in words.items() if number in chosen]
        faults = [_fault(one.codes, one.level) for one in chips.faults if one.chip == number]
        told = series(
            [*said, *([sentence("reports the fault {faults}", faults=series(faults, "; "))] if faults else [])], " and "
        )
        text = sentence(
            "The chip {number} {state}. Source: the ConfigMap {place} of the device plugin.",
            number=number,
            state=told,
            place=place,
        )
        card = number if number in keys else None
        found.append(Finding(code="chip-fault", severity=WARNING, text=text, card=card))
    return found


CONFIG_MAPS = ConfigMaps(
    wanted=_wanted,
    kept=_kept,
    node_of=_node_of,
    read_for=gettext_noop("unhealthy Ascend chips and the reasons"),
    role="deploy/watcher-role-ascend.yaml",
)
