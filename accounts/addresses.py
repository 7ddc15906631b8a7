"""The address that a request comes from, behind proxies too. Nothing that a client can write itself is believed."""

from __future__ import annotations

from ipaddress import IPv6Address, ip_address, ip_network

from django.conf import settings
from django.http import HttpRequest

LENGTH = 64
#: One subscriber has at least this much of IPv6, and may change the rest at will.
_IPV6_PREFIX = 64


def client_address(request: HttpRequest) -> str:
    """The address of the client; of IPv6 the network. "" where the server knows none (a Unix socket).

    Each of `settings.PROXY_HOPS` proxies adds who asked it to the end of X-Forwarded-For: the entry that the first of them
    has added is the client. Where it is missing or no address, the request came around the proxies, and its peer counts.
    """
    peer = request.META.get("REMOTE_ADDR", "")
    entries = request.META.get("HTTP_X_FORWARDED_FOR", "").split(",")
    hops = settings.PROXY_HOPS
    told = _network(entries[-hops]) if 0 < hops <= len(entries) else ""
    return told or _network(peer) or peer[:LENGTH]


def _network(text: str) -> str:
    try:
        address = ip_address(_without_port(text.strip()).partition("%")[0])
    except ValueError:
        return ""
    if not isinstance(address, IPv6Address):
        return str(address)
    if address.ipv4_mapped:
        return str(address.ipv4_mapped)
    return str(ip_network((address, _IPV6_PREFIX), strict=False))


def _without_port(text: str) -> str:
    """Of "10.0.0.1:5000", "[fd00::1]:5000" and "[fd00::1]", as some proxies write them."""
    if text.startswith("["):
        return text[1:].partition("]")[0]
    return text.partition(":")[0] if text.count(":") == 1 else text
