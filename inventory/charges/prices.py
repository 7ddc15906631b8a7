"""What hardware costs: which price is in force, and amounts of money as exact whole numbers. Imports no Django.

Money is counted in parts so small that card-microseconds and MiB-seconds at a price with six decimals are whole: `PER_UNIT` of them
are one unit of a currency. So sums are exact, and rounding comes last.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable
from datetime import date, timedelta
from decimal import Decimal

import msgspec

#: Decimals of a price. Prices are kept as whole millionths.
DECIMALS = 6
_MILLIONTHS = 10**DECIMALS
#: Card-microseconds of a card-hour, MiB-seconds of a GiB-hour.
_CARD_HOUR, _GIB_HOUR = 3_600_000_000, 1024 * 3600
#: Parts of one unit of a currency (such as 1 EUR). Of a card-microsecond at a price of a millionth they are 1024, of a MiB-second
#: a million.
PER_UNIT = _MILLIONTHS * _CARD_HOUR * 1024
_PER_CARD_US, _PER_MIB_S = PER_UNIT // _MILLIONTHS // _CARD_HOUR, PER_UNIT // _MILLIONTHS // _GIB_HOUR
CURRENCY = re.compile(r"[A-Z]{3}")
LABEL = re.compile(r"[A-Za-z0-9._/-]{1,317}=[A-Za-z0-9._-]{0,63}")


class Hardware(msgspec.Struct, frozen=True, order=True):
    """What a price can choose by. "" and (): unknown. labels: "key=value" of the node, of those keys that a price names."""

    pool: str = ""
    model: str = ""
    labels: tuple[str, ...] = ()


class Rate(msgspec.Struct, frozen=True, order=True):
    """A price from a day (UTC) on. label, pool, model: "" chooses all. card_hour, gib_hour: millionths; None: not charged by that.

    Both None: the price ends, and what follows is unknown.
    """

    label: str
    pool: str
    model: str
    since: date
    currency: str
    card_hour: int | None
    gib_hour: int | None

    def fits(self, one: Hardware) -> bool:
        return (
            (not self.label or self.label in one.labels)
            and self.pool in ("", one.pool)
            and self.model in ("", one.model)
        )

    @property
    def rank(self) -> tuple[bool, bool, bool]:
        """A label beats a pool, a pool beats a model, each of them all cards."""
        return bool(self.label), bool(self.pool), bool(self.model)


class Rates:
    """All prices. Of several labels of a node the first in the order of the alphabet counts."""

    def __init__(self, rates: Iterable[Rate] = ()) -> None:
        self._rates = sorted(
            rates, key=lambda one: (*(not named for named in one.rank), one.label, -one.since.toordinal())
        )
        self._found: dict[tuple[Hardware, date], Rate | None] = {}

    def __bool__(self) -> bool:
        return bool(self._rates)

    @property
    def label_keys(self) -> frozenset[str]:
        return frozenset(one.label.partition("=")[0] for one in self._rates if one.label)

    def stretches(self, first: date, last: date) -> list[tuple[date, date]]:
        """The days from first to last, both included, between which no price begins: (first day, last day)."""
        begins = [first, *sorted({one.since for one in self._rates if first < one.since <= last})]
        ends = [*begins[1:], last + timedelta(days=1)]
        return [(begin, after - timedelta(days=1)) for begin, after in zip(begins, ends, strict=True)]

    def of(self, hardware: Hardware, day: date) -> Rate | None:
        """The price in force; None: unknown."""
        at = (hardware, day)
        if at not in self._found:
            self._found[at] = next((one for one in self._rates if one.since <= day and one.fits(hardware)), None)
        found = self._found[at]
        return None if found is None or (found.card_hour is None and found.gib_hour is None) else found


class Money:
    """Amounts by currency, never added to each other, and whether something in them has no price."""

    def __init__(self) -> None:
        self.parts: dict[str, int] = defaultdict(int)
        #: Card-microseconds and MiB-seconds of unknown price.
        self.unknown = 0

    def add(self, rate: Rate | None, card_us: int, mib_s: int) -> None:
        """An amount of hardware at a price. Cards whose memory is not metered, or unknown, have an unknown price by GiB-hour."""
        if rate is None:
            self.unknown += card_us + mib_s
            return
        # Nothing is no amount of 0: what is unknown of it must not look like one.
        if rate.card_hour is not None and card_us:
            self.parts[rate.currency] += card_us * rate.card_hour * _PER_CARD_US
        if rate.gib_hour is not None and mib_s:
            self.parts[rate.currency] += mib_s * rate.gib_hour * _PER_MIB_S
        elif rate.gib_hour is not None:
            self.unknown += card_us

    def plus(self, other: Money, sign: int = 1) -> None:
        for currency, amount in other.parts.items():
            self.parts[currency] += sign * amount
        self.unknown += sign * other.unknown

    def share(self, part: int, whole: int) -> Money:
        """What a part of the whole costs; of nothing, all of it is unknown."""
        made = Money()
        if whole <= 0:
            made.unknown = 1
            return made
        for currency, amount in self.parts.items():
            made.parts[currency] = amount * min(part, whole) // whole
        made.unknown = self.unknown
        return made


Part = tuple[Hardware, int, int]


def packed(parts: Iterable[Part]) -> str:
    """Hardware with its card-microseconds and MiB-seconds, as a column keeps it; "" for nothing.

    One alone is kept without amounts, which are those of its row: so the days of an owner have one text, and a database adds them up.
    """
    rows = [[*msgspec.structs.astuple(one), cards, memory] for one, cards, memory in sorted(parts) if cards or memory]
    rows = [rows[0][:3]] if len(rows) == 1 else rows
    return json.dumps(rows, separators=(",", ":")) if rows else ""


def unpacked(text: str, card_us: int, mib_s: int, days: int = 1) -> list[Part]:
    """card_us, mib_s: of so many rows with this text. Raises ValueError or TypeError for what `packed` has not written."""
    rows = json.loads(text) if text else []
    if len(rows) == 1:
        [(pool, model, labels)] = rows
        return [(Hardware(pool, model, tuple(labels)), card_us, mib_s)]
    return [
        (Hardware(pool, model, tuple(labels)), cards * days, memory * days)
        for pool, model, labels, cards, memory in rows
    ]


def millionths(text: str) -> int:
    """A price as it is written: "2.10". Raises ValueError."""
    if not re.fullmatch(r"[0-9]{1,7}(\.[0-9]{1,6})?", text):
        raise ValueError(text)
    return int(Decimal(text).scaleb(DECIMALS))


def written(price: int | None) -> str | None:
    """The same as text, without zeros at its end."""
    if price is None:
        return None
    text = f"{Decimal(price).scaleb(-DECIMALS):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
