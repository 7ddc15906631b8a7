"""The table of floors, read from CSV. Every line is hostile until parsed; an error names the line and the field."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import msgspec

COLUMNS = (
    "suite",
    "measurement",
    "model",
    "cards",
    "message",
    "machine",
    "least",
    "unit",
    "statistic",
    "measured_on",
    "source",
    "date",
)
#: Units in which more is better. A least value in another unit would not be one.
UNITS = ("GB/s", "GFLOP/s", "1/s", "1e9/s")
STATISTICS = ("peak", "average")
#: Lines of a file, and characters of it.
MOST_LINES, MOST_CHARACTERS = 5_000, 1_000_000
_NAME = re.compile(r"[a-z0-9][a-z0-9_.:/-]{0,99}", re.IGNORECASE)
_TEXT = re.compile(r"[^\x00-\x1f\x7f]{1,200}")
_MESSAGE = re.compile(r"([1-9][0-9]{0,5})([KMG])")
_DATE = re.compile(r"20[0-9]{2}-(0[1-9]|1[0-2])(-(0[1-9]|[12][0-9]|3[01]))?")
_FACTOR = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


class WrongFile(Exception):
    """A file that is no table of floors. The text names line and field and what is wanted."""


class Floor(msgspec.Struct, frozen=True, kw_only=True):
    """A least value, in `unit`.

    Conditions: cards of the run ("" in the file, None here: any), message: the least size of the largest message in bytes (None:
    any), machine: the instance type of the node ("": any). statistic: whether the figure is the peak of a sweep or an average.
    measured_on: the machine type that the figure is for. date: of the version of the source that was read: YYYY-MM or
    YYYY-MM-DD. own: of the administrator's file.
    """

    suite: str
    measurement: str
    model: str
    least: float
    unit: str
    statistic: str
    measured_on: str
    source: str
    date: str
    cards: int | None = None
    message: int | None = None
    machine: str = ""
    own: bool = False

    @property
    def key(self) -> tuple[object, ...]:
        """What makes it one floor: a line of a file with the same key replaces the built-in one."""
        return (self.suite, self.measurement, same_model(self.model), self.cards, self.message, self.machine)


def same_model(name: str) -> str:
    """Labels have "-" where exporters have blanks: both name one model."""
    return re.sub(r"[\s_-]+", " ", name).strip().casefold()


@cache
def built_in() -> tuple[Floor, ...]:
    return parse((Path(__file__).parent / "floors.csv").read_text(encoding="utf-8"), own=False)


def with_own(own: Iterable[Floor]) -> tuple[Floor, ...]:
    """The administrator's floors, and the built-in ones that they do not replace."""
    mine = {one.key: one for one in own}
    return (*mine.values(), *(one for one in built_in() if one.key not in mine))


def parse(text: str, *, own: bool = True) -> tuple[Floor, ...]:
    """The floors of a file. Raises WrongFile with the first thing that is wrong."""
    made = []
    for _line, one in lines(text, own=own):
        if isinstance(one, WrongFile):
            raise one
        made.append(one)
    return tuple(made)


def lines(text: str, *, own: bool = True) -> Iterator[tuple[int, Floor | WrongFile]]:
    """(line, its floor or what is wrong with it), in their order. What makes all other lines worthless comes last."""
    if len(text) > MOST_CHARACTERS:
        yield 1, WrongFile(f"must have at most {MOST_CHARACTERS} characters")
        return
    rows = csv.reader(text.removeprefix("\ufeff").splitlines(), strict=True)
    found: dict[tuple[object, ...], int] = {}
    try:
        if tuple(next(rows, [])) != COLUMNS:
            yield 1, WrongFile(f"line 1: must be {','.join(COLUMNS)}")
            return
        for row in rows:
            line = rows.line_num
            if not any(cell.strip() for cell in row):
                continue
            if line > MOST_LINES:
                yield line, WrongFile(f"line {line}: more than {MOST_LINES} lines")
                return
            yield line, _once(row, line, own, found)
    except csv.Error as error:
        yield rows.line_num, WrongFile(f"line {rows.line_num}: {error}")


def _once(row: list[str], line: int, own: bool, found: dict[tuple[object, ...], int]) -> Floor | WrongFile:
    """found: line of each floor so far; this one is added."""
    try:
        one = _floor(row, line, own)
    except WrongFile as error:
        return error
    first = found.setdefault(one.key, line)
    return one if first == line else WrongFile(f"line {line}: the same floor as line {first}")


def _floor(row: list[str], line: int, own: bool) -> Floor:
    if len(row) != len(COLUMNS):
        raise WrongFile(f"line {line}: {len(row)} fields, must be {len(COLUMNS)}")
    given = {name: cell.strip() for name, cell in zip(COLUMNS, row, strict=True)}

    def wrong(name: str, wanted: str) -> WrongFile:
        return WrongFile(f"line {line}, field {name}: {wanted}; found {given[name][:60]!r}")

    for name in ("suite", "measurement"):
        if not _NAME.fullmatch(given[name]):
            raise wrong(name, "must be a name")
    for name in ("model", "measured_on", "source"):
        if not _TEXT.fullmatch(given[name]):
            raise wrong(name, "must be a text of 1 to 200 characters")
    if given["machine"] and not _TEXT.fullmatch(given["machine"]):
        raise wrong("machine", "must be an instance type, or empty")
    if given["unit"] not in UNITS:
        raise wrong("unit", f"must be one of {', '.join(UNITS)}")
    if given["statistic"] not in STATISTICS:
        raise wrong("statistic", f"must be one of {', '.join(STATISTICS)}")
    cards, size = given["cards"], _MESSAGE.fullmatch(given["message"])
    if cards and not (cards.isascii() and cards.isdigit() and len(cards) < 7 and int(cards)):
        raise wrong("cards", "must be a whole number above 0, or empty")
    if given["message"] and size is None:
        raise wrong("message", "must be a size such as 512M or 16G, or empty")
    if not _DATE.fullmatch(given["date"]):
        raise wrong("date", "must be a date such as 2026-05 or 2026-05-20")
    return Floor(
        suite=given["suite"],
        measurement=given["measurement"],
        model=given["model"],
        least=_least(given["least"], wrong("least", "must be a number above 0")),
        unit=given["unit"],
        statistic=given["statistic"],
        measured_on=given["measured_on"],
        source=given["source"],
        date=given["date"],
        cards=int(cards) if cards else None,
        message=int(size[1]) * _FACTOR[size[2]] if size else None,
        machine=given["machine"],
        own=own,
    )


def _least(text: str, wrong: WrongFile) -> float:
    try:
        value = float(text) if text.isascii() and len(text) < 30 else 0.0
    except ValueError:
        raise wrong from None
    if not (math.isfinite(value) and value > 0):
        raise wrong
    return value
