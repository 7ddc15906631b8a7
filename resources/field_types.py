"""What the type of a field says: how its table shows it, and what a CSV cell of it is. None as a type: CSV alone has the field."""

from __future__ import annotations

from datetime import datetime
from types import NoneType
from typing import Any, get_args, get_origin

import msgspec

#: Type → how it looks in a table. bool first: it is an int too.
_KINDS = {bool: "yes_no", datetime: "time", int: "number", float: "number"}


def bare(hint: Any) -> Any:
    """A type without what is said of it."""
    return get_args(hint)[0] if getattr(hint, "__metadata__", None) is not None else hint


def _plain_types(hint: Any) -> set[Any]:
    """The types of a field, without what is said of them."""
    inside = bare(hint)
    return set(get_args(inside)) or {inside}


TIME, NUMBER = "time", "number"
#: End of a name → the unit of its numbers.
_UNITS = {
    "byte_seconds": "bytes × seconds",
    "card_seconds": "cards × seconds",
    "_bytes": "bytes",
    "_ratio": "0 to 1",
    "_percent": "%",
    "_celsius": "°C",
    "_watts": "W",
    "_seconds": "seconds",
    "exit_code": "exit code",
}
#: Type → what a cell of it is.
_CSV_KINDS: dict[Any, str] = {bool: "true or false", datetime: TIME, list: "words, separated by spaces", dict: "JSON"}


def metas(hint: Any) -> list[msgspec.Meta]:
    """What is said of a field."""
    return [one for one in getattr(hint, "__metadata__", ()) if isinstance(one, msgspec.Meta)]


def text_of(hint: Any) -> str:
    """Its description, "" for none."""
    return next((one.description for one in metas(hint) if one.description), "")


def table_kind(name: str, hint: Any) -> str:
    """How a value of a field looks in a table: bytes, ratio, number, time, yes_no, list or text."""
    if get_origin(bare(hint)) is list:
        return "list"
    kinds = [kind for part, kind in _KINDS.items() if part in _plain_types(hint)]
    by_name = "bytes" if name.endswith("_bytes") else "ratio" if name.endswith("_ratio") else ""
    return by_name or (kinds[0] if kinds else "text")


def csv_unit(name: str, hint: Any) -> str:
    """The unit of the numbers in a CSV column, or the kind of its cells."""
    types = _csv_types(hint) if hint is not None else set()
    by_name = next((unit for end, unit in _UNITS.items() if name.endswith(end)), "")
    if types & {int, float} and bool not in types:
        return by_name or NUMBER
    kinds = [unit for kind, unit in _CSV_KINDS.items() if kind in types]
    return TIME if name.endswith("_at") else kinds[0] if kinds else "text"


def _csv_types(hint: Any) -> set[Any]:
    """The types of a column; of a list or an object that itself."""
    hint = bare(hint)
    several = get_args(hint) if NoneType in get_args(hint) else (hint,)
    return {get_origin(one) or one for one in several}
