"""Which address a request comes from: what a client writes into X-Forwarded-For is never believed."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import RequestFactory

from accounts.addresses import client_address

PEER = "10.0.0.1"


def address(told: str | None, hops: int, settings: Any, peer: str = PEER) -> str:
    settings.PROXY_HOPS = hops
    headers = {} if told is None else {"HTTP_X_FORWARDED_FOR": told}
    return client_address(RequestFactory().get("/", REMOTE_ADDR=peer, **headers))


@pytest.mark.parametrize(
    ("told", "hops", "found"),
    [
        (None, 0, PEER),
        ("192.0.2.1", 0, PEER),
        ("192.0.2.1", 1, "192.0.2.1"),
        ("6.6.6.6, 192.0.2.1", 1, "192.0.2.1"),
        ("6.6.6.6, 192.0.2.1, 10.0.0.2", 2, "192.0.2.1"),
        ("192.0.2.1", 2, PEER),
        (None, 1, PEER),
        ("", 1, PEER),
        ("unknown", 1, PEER),
        ("192.0.2.1, <script>", 1, PEER),
        ("192.0.2.1:4711", 1, "192.0.2.1"),
        ("[2001:db8::7]:4711", 1, "2001:db8::/64"),
        ("2001:db8:0:5::7", 1, "2001:db8:0:5::/64"),
        ("::ffff:192.0.2.1", 1, "192.0.2.1"),
        ("fe80::1%eth0", 1, "fe80::/64"),
    ],
)
def test_the_client_is_the_entry_of_the_first_proxy(told: str | None, hops: int, found: str, settings: Any) -> None:
    assert address(told, hops, settings) == found


@pytest.mark.parametrize(("peer", "found"), [("", ""), ("unix:", "unix:"), ("x" * 500, "x" * 64), ("[::1]", "::/64")])
def test_a_peer_that_is_no_address_is_taken_as_it_is(peer: str, found: str, settings: Any) -> None:
    assert address(None, 0, settings, peer) == found
