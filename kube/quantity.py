"""Kubernetes quantities ("2", "16Gi", "500m", "1e3") as whole numbers.

Exact, bounded and silent: text of any length or content is answered in short time, and what is no quantity is None.
It must not know what a quantity is of: cards, memory units and bytes are the same to it.
Source: the serialization format of `resource.Quantity` in k8s.io/apimachinery.
"""

from __future__ import annotations

import re

#: The API holds quantities in a signed 64-bit integer.
INT64_MAX = 2**63 - 1
#: Longer text is no quantity that anybody means; refusing it keeps the cost bounded.
_LONGEST = 64
#: Beyond this every exponent is either outside int64 or rounds up to 1.
_FARTHEST = 100

_QUANTITY = re.compile(
    r"(?P<sign>[+-]?)(?P<whole>[0-9]*)(?:\.(?P<part>[0-9]*))?(?:(?P<suffix>[KMGTPE]i|[numkMGTPE])|[eE](?P<exp>[+-]?[0-9]+))?"
)
_BINARY = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "Pi": 2**50, "Ei": 2**60}
_DECIMAL = {"n": -9, "u": -6, "m": -3, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}


def parse(value: str | int | None) -> int | None:
    """The value of a quantity, rounded up to a whole number as the API does (away from zero for negative ones).

    None: not a quantity, or outside int64. Never raises.
    """
    if type(value) is str:
        if len(value) <= 18 and value.isascii() and value.isdigit():
            return int(value)
        return _general(value)
    if type(value) is int and -INT64_MAX <= value <= INT64_MAX:
        return value
    return None


def millis(value: str | int | None) -> int | None:
    """Thousandths, as CPU is counted: "500m" is 500, "2" is 2000. None when it is no quantity, negative, or outside int64."""
    text = str(value) if type(value) is int else value
    number = _general(text, 3) if type(text) is str else None
    return number if number is not None and number >= 0 else None


def count(value: str | int | None) -> int | None:
    """How many: a whole number, not negative. None when it is no quantity, negative, or outside int64."""
    number = parse(value)
    return number if number is not None and number >= 0 else None


def size(value: str | int | None) -> int | None:
    """A size in bytes, not negative. None when it is no quantity, negative, or outside int64.

    A size must be more than nothing to be believed of a card, but 0 is a valid quantity and is returned as such.
    """
    number = parse(value)
    return number if number is not None and number >= 0 else None


def written(number: int) -> str:
    """A whole number as a quantity, short where it is exact: 20Gi, 7611Mi, 20000000000."""
    for suffix in ("Ti", "Gi", "Mi", "Ki"):
        if number and number % _BINARY[suffix] == 0:
            return f"{number // _BINARY[suffix]}{suffix}"
    return str(number)


def written_millis(number: int) -> str:
    """Thousandths as a quantity: 2, 500m."""
    return f"{number}m" if number % 1000 else str(number // 1000)


def _general(text: str, shift: int = 0) -> int | None:
    """The value × 10^shift."""
    if len(text) > _LONGEST:
        return None
    match = _QUANTITY.fullmatch(text)
    if match is None:
        return None
    whole, part = match["whole"] or "", match["part"] or ""
    if not whole and not part:
        return None
    suffix = match["suffix"] or ""
    exponent = int(match["exp"]) if match["exp"] else _DECIMAL.get(suffix, 0)
    number = _scaled(int(whole + part), exponent - len(part) + shift, _BINARY.get(suffix, 1))
    if number is None or number > INT64_MAX:
        return None
    return -number if match["sign"] == "-" else number


def _scaled(digits: int, exponent: int, factor: int) -> int | None:
    """digits × 10^exponent × factor, rounded up; None when it is certainly outside int64."""
    if digits == 0:
        return 0
    if exponent > _FARTHEST:
        return None
    if exponent >= 0:
        return int(digits * 10**exponent * factor)
    if exponent < -2 * _FARTHEST:
        return 1
    return int(-(-digits * factor // 10**-exponent))
