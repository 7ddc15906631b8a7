"""Which addresses may be called. A channel's address is entered by a person, and its name is resolved by whoever owns the domain:
neither may lead into the network of this installation unless GPUDASH_NOTIFY_ALLOW says so.

What is checked is the resolved address, and that one is connected to: a name is looked up once.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

import msgspec
from urllib3.exceptions import NameResolutionError

from kube.deadline import look_up
from notifications.sending.errors import NotPossible, NotSent
from wording.said import sentence

SETTING = "GPUDASH_NOTIFY_ALLOW"
_HOST = re.compile(
    r"(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*", re.I
)
_NAT64 = IPv6Network("64:ff9b::/96")
#: All that is global of IPv6; local NAT64, IPv4-compatible and site-local addresses are outside.
_GLOBAL = IPv6Network("2000::/3")
#: What Python's tables lack, by version: protocol assignments, relays of 6to4, Teredo, documentation.
_NEVER = tuple(map(ip_network, ("192.0.0.0/24", "192.88.99.0/24", "2001::/23", "3fff::/20")))
Address = IPv4Address | IPv6Address


class Allowed(msgspec.Struct, frozen=True):
    """What may be called although it is not public. hosts: names in lower case."""

    networks: tuple[IPv4Network | IPv6Network, ...] = ()
    hosts: frozenset[str] = frozenset()


def parse_allowed(words: Iterable[str]) -> Allowed:
    """Host names, addresses and networks. Raises ValueError with the bad word."""
    networks, hosts = [], set()
    for word in words:
        try:
            networks.append(ip_network(word))
            continue
        except ValueError:
            # A name's last part is no number: 10.0.0.300 and 10.0.0.1/99 are mistakes.
            if not _HOST.fullmatch(word) or word.rpartition(".")[2].isdigit():
                text = "Invalid host or network: {word}. Use a host name, an address, or a network such as 10.0.0.0/8."
                raise ValueError(text.format(word=repr(word[:100]))) from None
        hosts.add(word.lower())
    return Allowed(tuple(networks), frozenset(hosts))


def resolved(host: str, port: int, allowed: Allowed, seconds: float) -> list[str]:
    """Addresses of the host that may be called, in the resolver's order.

    Raises NotSent when there are none, NotPossible when none of them may be called.
    """
    try:
        look_up(None, host, port, seconds)
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (NameResolutionError, OSError, UnicodeError):
        raise NotSent(sentence("The name {host} cannot be resolved.", host=host)) from None
    addresses = list(dict.fromkeys(str(one[4][0]) for one in found))
    usable = [one for one in addresses if may_be_called(host, one, allowed)]
    if not usable:
        text = sentence(
            "{host} has the address {address}, which is not public. Add the host or its network to {setting}.",
            host=host,
            address=", ".join(addresses[:2]),
            setting=SETTING,
        )
        raise NotPossible(text)
    return usable


def may_be_called(host: str, address: str, allowed: Allowed) -> bool:
    """Whether the address is public, or an administrator allowed it or its host."""
    parsed = ip_address(address.partition("%")[0])
    if host.rstrip(".").lower() in allowed.hosts:
        return True
    reached = _reached(parsed)
    if any(one in network for one in (parsed, reached) for network in allowed.networks):
        return True
    return _public(reached)


def _reached(address: Address) -> Address:
    """Where packets to it end: the IPv4 address inside an IPv6 one of a translator, else itself."""
    if isinstance(address, IPv4Address):
        return address
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address.sixtofour or address


def _public(address: Address) -> bool:
    """Global unicast: not loopback, private, link-local (169.254.169.254 is), carrier-grade NAT, multicast, reserved, unspecified."""
    if any(address in network for network in _NEVER) or (isinstance(address, IPv6Address) and address not in _GLOBAL):
        return False
    return address.is_global and not (address.is_multicast or address.is_reserved or address.is_unspecified)
