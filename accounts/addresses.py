"""The address that a request comes from, behind proxies too. Nothing that a client can write itself is believed."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

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
    address = exact_address(request)
    if isinstance(address, IPv6Address):
        return str(ip_network((address, _IPV6_PREFIX), strict=False))
    return str(address) if address is not None else str(request.META.get("REMOTE_ADDR", ""))[:LENGTH]


def exact_address(request: HttpRequest) -> IPv4Address | IPv6Address | None:
    """The same to its last bit; None where it is not known."""
    entries = request.META.get("HTTP_X_FORWARDED_FOR", "").split(",")
    hops = settings.PROXY_HOPS
    told = _address(entries[-hops]) if 0 < hops <= len(entries) else None
    return told or _address(request.META.get("REMOTE_ADDR", ""))


def _address(text: str) -> IPv4Address | IPv6Address | None:
    try:
        address = ip_address(_without_port(text.strip()).partition("%")[0])
    except ValueError:
        return None
    return address.ipv4_mapped or address if isinstance(address, IPv6Address) else address


def _without_port(text: str) -> str:
    """Of "10.0.0.1:5000", "[fd00::1]:5000" and "[fd00::1]", as some proxies write them."""
    if text.startswith("["):
        return text[1:].partition("]")[0]
    return text.partition(":")[0] if text.count(":") == 1 else text
