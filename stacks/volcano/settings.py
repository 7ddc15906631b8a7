"""The unit in which the plugin of virtual GPUs counts memory: MiB times a factor, which is its setting.

An option of its command line says it for certain, else a ConfigMap that it looks for by name, first in kube-system. Versions before
August 2026 went by the option's default, 1, whatever the ConfigMap said: a factor from there counts only where the memory of a card
would make no sense with the other. Source: Project-HAMi/volcano-vgpu-device-plugin 4fb76ba (pkg/util/util.go, doc/config.md).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from kube.config_maps import ConfigMap
from kube.objects import DaemonSet
from kube.quantity import count
from stacks.engine.base import Context, Selection
from stacks.engine.config_maps import found_in
from stacks.engine.labels import GIB, MIB
from stacks.engine.stack import ConfigMaps
from stacks.shared.plugin_daemonsets import of, option
from stacks.shared.yaml_text import mapping, read, word
from stacks.volcano.register import Registered
from wording.said import gettext_noop

NAME, PLUGIN = "volcano", "volcano-device-plugin"
MAP, NAMESPACES = "volcano-vgpu-device-config", ("kube-system", "volcano-system")
_FILE, _KEY, _OPTION = "device-config.yaml", "gpuMemoryFactor", "gpu-memory-factor"
#: A card has from 2 GiB to 1 TiB.
_LEAST, _MOST = 2 * GIB, 1024 * GIB
_LARGEST_FACTOR = 100_000


class Unit(NamedTuple):
    """MiB of a unit, and who says so, in words."""

    factor: int
    source: str


def unit(cards: list[Registered], context: Context) -> Unit | None:
    """What the plugin's settings say of the unit; None where they do not, or where it may be another."""
    said = {option(found, _OPTION) for found in of(context.daemonsets, PLUGIN)}
    if said - {None}:
        number = _factor(said.pop() or "") if len(said) == 1 else None
        return Unit(number, f"--{_OPTION} of the device plugin") if number is not None else None
    for namespace in NAMESPACES:
        there = found_in(context, NAME, namespace, MAP)
        if there is not None:
            number = _factor(there.said[NAME].get(_KEY, ""))
            fits = {one for one in (1, number) if _sane(cards, one)} if number is not None else set()
            return Unit(fits.pop(), f"ConfigMap {namespace}/{MAP}") if len(fits) == 1 else None
    return None


def _factor(text: str) -> int | None:
    number = count(text)
    return number if number is not None and 0 < number <= _LARGEST_FACTOR else None


def _sane(cards: list[Registered], factor: int) -> bool:
    return bool(cards) and all(_LEAST <= card.units * factor * MIB <= _MOST for card in cards)


def _wanted(daemonsets: tuple[DaemonSet, ...]) -> Iterable[Selection]:
    plugins = of(daemonsets, PLUGIN)
    return [Selection(NAME, namespace, MAP) for namespace in NAMESPACES] if plugins else []


def _kept(found: ConfigMap, keys: tuple[str, ...]) -> dict[str, str]:
    """It stands in the section of the cards' vendor."""
    sections = mapping(read((found.data or {}).get(_FILE, ""))).values()
    said = next((text for one in sections if (text := word(mapping(one).get(_KEY)))), "")
    return {_KEY: said} if _factor(said) is not None else {}


CONFIG_MAPS = ConfigMaps(
    wanted=_wanted,
    kept=_kept,
    read_for=gettext_noop("the memory unit of Volcano, if no label reports the memory of the cards"),
)
