"""Where MIG instances can lie on a card, by model, and what would still fit beside those that are there.

A card has compute slices and memory slices. An instance takes a number of compute slices, and a run of memory slices that begins at
one of a few places; instances may not overlap. Must not know nodes or pods.

Sources: NVIDIA's MIG user guide, supported profiles (numbers of instances, fractions, media extensions); `nvidia-smi mig -lgipp` of
A100, H100, H100 NVL and RTX PRO 6000 Blackwell (places); NVIDIA/go-nvml 2f9e261, pkg/nvml/mock/gpus (A30, A100); NVIDIA/mig-parted
bd7160f and GoogleCloudPlatform/container-engine-accelerators 992db812 (profiles of H200, B200, GB200).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

#: (profile, number), ordered.
Counts = tuple[tuple[str, int], ...]
#: More instances than any card has; what claims more is no layout of one card.
_MOST = 16


class Profile(NamedTuple):
    """compute: slices of it. starts, size: where it can lie, in memory slices. decoders: of those that a card has few of.

    media: whether it takes the one unit for media that a card has (optical flow), so that there is one such instance at most.
    """

    compute: int
    starts: tuple[int, ...]
    size: int
    decoders: int = 0
    media: bool = False


class Table(NamedTuple):
    """One model. name: in words. compute, memory, decoders: what the card has; profiles by their names."""

    name: str
    compute: int
    memory: int
    profiles: Mapping[str, Profile]
    decoders: int = 0


def _seven(name: str, one: int, two: int, half: int, whole: int) -> Table:
    """A card of seven compute and eight memory slices. one, two, half, whole: GB in the names of its profiles."""
    anywhere, pairs = tuple(range(7)), (0, 2, 4, 6)
    return Table(
        name,
        7,
        8,
        {
            f"1g.{one}gb": Profile(1, anywhere, 1),
            f"1g.{one}gb+me": Profile(1, anywhere, 1, media=True),
            f"1g.{two}gb": Profile(1, pairs, 2),
            f"2g.{two}gb": Profile(2, pairs[:3], 2),
            f"3g.{half}gb": Profile(3, (0, 4), 4),
            f"4g.{half}gb": Profile(4, (0,), 4),
            f"7g.{whole}gb": Profile(7, (0,), 8, media=True),
        },
    )


_A30 = Table(
    "A30",
    4,
    4,
    {
        "1g.6gb": Profile(1, (0, 1, 2, 3), 1),
        "1g.6gb+me": Profile(1, (0, 1, 2, 3), 1, media=True),
        "2g.12gb": Profile(2, (0, 2), 2),
        "2g.12gb+me": Profile(2, (0, 2), 2, media=True),
        "4g.24gb": Profile(4, (0,), 4, media=True),
    },
)


def _pro() -> Table:
    """Its profiles differ in the decoders that they take: one a quarter, none (-me), or all (+me.all)."""
    found: dict[str, Profile] = {}
    for parts, gigabytes, starts in ((1, 24, (0, 3, 6, 9)), (2, 48, (0, 6))):
        plain = Profile(parts, starts, 3 * parts, decoders=parts)
        base = f"{parts}g.{gigabytes}gb"
        found |= {base: plain, f"{base}+gfx": plain, f"{base}-me": plain._replace(decoders=0)}
        found[f"{base}+me.all"] = plain._replace(decoders=4, media=True)
    found["1g.24gb+me"] = found["1g.24gb"]._replace(media=True)
    whole = Profile(4, (0,), 12, decoders=4, media=True)
    return Table("RTX PRO 6000 Blackwell", 4, 12, found | {"4g.96gb": whole, "4g.96gb+gfx": whole}, decoders=4)


_A100_40 = _seven("A100 40 GB", 5, 10, 20, 40)
_A100_80 = _seven("A100 80 GB", 10, 20, 40, 80)
_H100_80 = _seven("H100 80 GB", 10, 20, 40, 80)
_H100_94 = _seven("H100 94 GB", 12, 24, 47, 94)
_H100_96 = _seven("H100 96 GB", 12, 24, 48, 96)
_H200 = _seven("H200 141 GB", 18, 35, 71, 141)
_B200 = _seven("B200 180 GB", 23, 45, 90, 180)
_GB200 = _seven("GB200 186 GB", 23, 47, 93, 186)
_RTX_PRO_6000 = _pro()

#: Pattern of a model's name, as drivers, labels and clouds write it with dashes in capitals → its table; the first that fits.
_MODELS: tuple[tuple[re.Pattern[str], Table], ...] = tuple(
    (re.compile(pattern), table)
    for pattern, table in (
        (r"(^|-)A30(-|$)", _A30),
        (r"(^|-)A100(-|$).*40GB|^NVIDIA-TESLA-A100$", _A100_40),
        (r"(^|-)A100(-|$).*80GB", _A100_80),
        (r"(^|-)H100(-|$).*(NVL|94GB)", _H100_94),
        (r"(^|-)H100(-|$).*96GB|(^|-)GH200-480GB|^(NVIDIA-)?H20$", _H100_96),
        (r"(^|-)H100(-|$).*(80GB|PCIE)", _H100_80),
        (r"(^|-)GB200(-|$)", _GB200),
        (r"(^|-)B200(-|$)", _B200),
        (r"(^|-)H200(-|$)", _H200),
        (r"(^|-)RTX-PRO-6000(-BLACKWELL)?(-|$)", _RTX_PRO_6000),
    )
)


def table_of(model: str | None) -> Table | None:
    """The table of a model; None for one that is not known."""
    name = re.sub(r"[\s_-]+", "-", (model or "").strip()[:128]).upper().partition("-MIG-")[0]
    return next((table for pattern, table in _MODELS if pattern.search(name)), None)


def named(table: Table, profile: str) -> str | None:
    """A profile as the table calls it: names of resources have dots where those of profiles have "+"; None for a strange one."""
    if profile in table.profiles:
        return profile
    dotted = {name.replace("+", "."): name for name in table.profiles}
    return dotted.get(profile)


def most(model: str | None, profile: str) -> int | None:
    """How many instances of one profile a card of this model holds at most; None when it is not known."""
    table = table_of(model)
    name = named(table, profile) if table is not None else None
    alone = room(table.name, ()) if table is not None and name is not None else None
    return next((number for one, _, number in alone or () if one == name), None)


@lru_cache(maxsize=1024)
def room(table_name: str, there: Counts) -> tuple[tuple[str, int, int], ...] | None:
    """(profile, how many more fit for sure, how many at most) of each profile beside the instances that are there.

    None when these cannot be on one card together.
    """
    table = _BY_NAME[table_name]
    counts = dict(there)
    taken = sum(table.profiles[name].compute * number for name, number in there)
    decoders = sum(table.profiles[name].decoders * number for name, number in there)
    media = sum(number for name, number in there if table.profiles[name].media)
    if taken > table.compute or media > 1 or decoders > table.decoders or sum(counts.values()) > _MOST:
        return None
    masks = set(_masks(table, [name for name, number in there for _ in range(number)]))
    if not masks:
        return None
    found = []
    for name, one in table.profiles.items():
        most = (table.compute - taken) // one.compute
        most = min(most, 1 - media) if one.media else most
        most = min(most, (table.decoders - decoders) // one.decoders) if one.decoders else most
        numbers = [min(most, _free(one, mask)) for mask in masks]
        found.append((name, min(numbers), max(numbers)))
    return tuple(found)


def _masks(table: Table, names: list[str], mask: int = 0, least: int = 0) -> Iterator[int]:
    """The memory slices that are taken, for each way in which these instances can lie. least: first place of the next one."""
    if not names:
        yield mask
        return
    one = table.profiles[names[0]]
    again = len(names) > 1 and names[1] == names[0]
    for start in one.starts:
        wanted = _run(start, one.size)
        if start >= least and not mask & wanted:
            yield from _masks(table, names[1:], mask | wanted, start + one.size if again else 0)


def _run(start: int, size: int) -> int:
    return ((1 << size) - 1) << start


def _free(one: Profile, mask: int) -> int:
    """How many of it find a place: from the left, which is the best for instances of one size."""
    number = 0
    for start in one.starts:
        if not mask & _run(start, one.size):
            mask |= _run(start, one.size)
            number += 1
    return number


def together(table: Table, there: Iterable[tuple[str, int]], cards: int) -> list[tuple[str, int]]:
    """(profile, how many at most) on so many cards that have these instances, whichever has which: by slices that are left."""
    counts = dict(there)
    compute = table.compute * cards - sum(table.profiles[name].compute * number for name, number in counts.items())
    memory = table.memory * cards - sum(table.profiles[name].size * number for name, number in counts.items())
    media = cards - sum(number for name, number in counts.items() if table.profiles[name].media)
    found = []
    for name, one in table.profiles.items():
        most = min(compute // one.compute, memory // one.size, len(one.starts) * cards)
        found.append((name, max(0, min(most, media) if one.media else most)))
    return found


_BY_NAME = {table.name: table for _, table in _MODELS}
