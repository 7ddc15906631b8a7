"""What claims ask for, in short: device class, number, conditions and capacity of each request.

Everything in a claim is somebody's text: it is cut to what a page can show. Source: the API reference of Kubernetes 1.36.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

from kube.claims import DeviceRequest, ExactRequest, ResourceClaim

#: The API allows 32 requests of a claim, 32 conditions and 32 capacities of each.
MOST = 32
_LONGEST, _LONGEST_CONDITION = 253, 300
#: The API has no larger number of devices of one request than of a claim's results.
_MOST_DEVICES = 1_000_000
_QUANTITY = r"quantity\(\s*['\"]([^'\"]{1,40})['\"]\s*\)"
#: device.attributes['gpu.example.com'].profile, also with ["…"] in the place of the name.
_PATH = r"device\.(?:attributes|capacity)\[['\"][^'\"]{1,253}['\"]\]\.([A-Za-z_][A-Za-z0-9_]{0,62})"
_COMPARED = re.compile(rf"{_PATH}\.compareTo\(\s*{_QUANTITY}\s*\)\s*(==|!=|>=|<=|>|<)\s*0(?![0-9.])")
_NAMED = re.compile(_PATH)


class Ask(msgspec.Struct, frozen=True, array_like=True):
    """One request. count: None for all devices that it admits. selectors: conditions on devices, each cut to 300 characters.

    capacity: (name, quantity) of what it takes of a device that several may have. alternative_to: name of the request of which
    it is one of several ways, the first that can be had; "" else.
    """

    request: str
    device_class: str
    count: int | None = 1
    admin: bool = False
    selectors: tuple[str, ...] = ()
    capacity: tuple[tuple[str, str], ...] = ()
    alternative_to: str = ""


def asks_of(claim: ResourceClaim) -> tuple[Ask, ...]:
    """The requests of a claim, at most 32."""
    wanted = (claim.spec.devices.requests if claim.spec and claim.spec.devices else None) or ()
    return tuple(ask for request in wanted for ask in _asks(request))[:MOST]


def _asks(request: DeviceRequest) -> Iterable[Ask]:
    if request.firstAvailable:
        return [
            _ask(one, one.name or request.name, alternative_to=request.name or "request")
            for one in request.firstAvailable
        ]
    return [_ask(request.exactly or request, request.name)]


def _ask(one: ExactRequest, name: str, alternative_to: str = "") -> Ask:
    given = (one.capacity.requests if one.capacity else None) or {}
    count = None if one.allocationMode == "All" else 1 if one.count is None else one.count
    texts = (selector.cel.expression for selector in one.selectors or () if selector.cel)
    return Ask(
        request=_cut(name, _LONGEST),
        device_class=_cut(one.deviceClassName, _LONGEST),
        count=min(max(count, 0), _MOST_DEVICES) if count is not None else None,
        admin=bool(one.adminAccess),
        selectors=tuple(_cut(text, _LONGEST_CONDITION) for text in list(texts)[:MOST]),
        capacity=tuple((_cut(key, _LONGEST), _cut(str(value), 40)) for key, value in sorted(given.items())[:MOST]),
        alternative_to=_cut(alternative_to, _LONGEST),
    )


def _cut(text: str, most: int) -> str:
    plain = " ".join(text.replace("\0", "").split())
    return plain if len(plain) <= most else f"{plain[: most - 1]}…"


def in_short(selector: str) -> str:
    """A condition as people read it: attributes and capacities by their names, quantities compared as numbers.

    What is of no known form stays as it is.
    """
    compared = _COMPARED.sub(lambda found: f"{found[1]} {found[3]} {found[2]}", selector)
    return _NAMED.sub(lambda found: found[1], compared)


def said(ask: Ask) -> str:
    """One line: "mig.nvidia.com: 1, profile == '1g.10gb'"."""
    number = "all" if ask.count is None else str(ask.count)
    details = [in_short(text) for text in ask.selectors]
    details += [f"{name.rpartition('/')[2]} {quantity}" for name, quantity in ask.capacity]
    details += ["admin access"] if ask.admin else []
    return ", ".join([f"{ask.device_class or '?'}: {number}", *details])
