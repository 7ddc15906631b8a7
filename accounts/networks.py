"""Where a token may be used from: networks as `10.0.0.0/8` or `2001:db8::/32`, or single addresses. None at all: from anywhere."""

from __future__ import annotations

import re
from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network

from django.utils.translation import gettext as _

MOST_NETWORKS = 50
Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network


class BadNetwork(Exception):
    """A text that is no network; says what is wanted."""


def networks_in(text: str) -> tuple[str, ...]:
    """The networks in lines, or between commas or blanks, as they are stored. Raises BadNetwork."""
    words = re.split(r"[\s,]+", text.strip()) if text.strip() else []
    if len(words) > MOST_NETWORKS:
        raise BadNetwork(_("At most %(most)d networks are allowed.") % {"most": MOST_NETWORKS})
    return tuple(dict.fromkeys(str(_network(word)) for word in words))


def _network(word: str) -> Network:
    try:
        return ip_network(word)
    except ValueError as error:
        wanted = _(
            "Invalid network: %(word)s (%(why)s). Use an address or a network such as 10.0.0.0/8 or 2001:db8::/32."
        )
        raise BadNetwork(wanted % {"word": repr(word[:60]), "why": str(error)[:120]}) from None


def reached_from(networks: Iterable[str], address: Address | None) -> bool:
    """Whether a request from this address may use it. Where networks are named, an address that is not known is in none."""
    given = [ip_network(one) for one in networks]
    return not given or (address is not None and any(address in one for one in given))


def outside(networks: Iterable[str], limits: Iterable[str]) -> str:
    """The first of these networks that is in none of the limits, "" when all are. No limits: nothing is outside."""
    allowed = [ip_network(one) for one in limits]
    for text in networks if allowed else ():
        if not any(_is_in(ip_network(text), limit) for limit in allowed):
            return text
    return ""


def _is_in(one: Network, limit: Network) -> bool:
    if isinstance(one, IPv4Network):
        return isinstance(limit, IPv4Network) and one.subnet_of(limit)
    return isinstance(limit, IPv6Network) and one.subnet_of(limit)
