"""Which addresses may be called."""

from __future__ import annotations

import socket
from typing import Any

import pytest

from notifications.sending.addresses import Allowed, may_be_called, parse_allowed, resolved
from notifications.sending.errors import NotPossible, NotSent

NOBODY = Allowed()


@pytest.mark.parametrize(
    "address",
    [
        *(
            "127.0.0.1",
            "127.9.9.9",
            "0.0.0.0",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "100.64.0.1",
            "169.254.169.254",
        ),
        *(
            "224.0.0.1",
            "239.255.255.250",
            "255.255.255.255",
            "240.0.0.1",
            "192.0.0.8",
            "192.0.2.1",
            "192.88.99.1",
            "198.18.0.1",
            "203.0.113.9",
        ),
        *(
            "::",
            "::1",
            "fe80::1",
            "fe80::1%eth0",
            "fc00::1",
            "fd00:ec2::254",
            "fec0::1",
            "ff02::1",
            "2001:db8::1",
            "3fff::1",
            "5f00::1",
        ),
        *("::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::127.0.0.1", "::10.0.0.1"),
        *("64:ff9b::127.0.0.1", "64:ff9b::a00:1", "64:ff9b::169.254.169.254", "64:ff9b:1::1", "64:ff9b:1::808:808"),
        *("2002:7f00:1::", "2002:a00:1::", "2001:0:4136:e378:8000:63bf:3fff:fdd2"),
    ],
)
def test_addresses_that_are_not_public_are_not_called(address: str) -> None:
    assert not may_be_called("example.com", address, NOBODY)


@pytest.mark.parametrize(
    "address",
    ["8.8.8.8", "140.82.112.3", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::"],
)
def test_public_addresses_are_called(address: str) -> None:
    assert may_be_called("example.com", address, NOBODY)


@pytest.mark.parametrize(
    ("words", "host", "address", "may"),
    [
        ("10.0.0.0/8", "a", "10.1.2.3", True),
        ("10.0.0.0/8", "a", "::ffff:10.1.2.3", True),
        ("10.0.0.0/8", "a", "64:ff9b::a01:203", True),
        ("10.0.0.0/8", "a", "11.1.2.3", True),
        ("10.0.0.0/8", "a", "172.16.0.1", False),
        ("10.0.0.7", "a", "10.0.0.7", True),
        ("10.0.0.7", "a", "10.0.0.8", False),
        ("fd00::/8", "a", "fd00::1", True),
        ("Alertmanager.Monitoring", "alertmanager.monitoring", "10.0.0.7", True),
        ("alertmanager", "ALERTMANAGER.", "10.0.0.7", True),
        ("alertmanager", "evil.alertmanager", "10.0.0.7", False),
    ],
)
def test_what_an_administrator_allows(words: str, host: str, address: str, may: bool) -> None:
    assert may_be_called(host, address, parse_allowed(words.split())) is may


@pytest.mark.parametrize(
    "word", ["10.0.0.1/99", "10.0.0.300", "10.0.0.1/8", "http://a", "a b", "a/b", "", "a..b", "fd00::/129"]
)
def test_a_bad_word_is_named(word: str) -> None:
    with pytest.raises(ValueError) as caught:
        parse_allowed(["10.0.0.0/8", word])
    assert repr(word) in str(caught.value)


def _names(monkeypatch: pytest.MonkeyPatch, *addresses: str) -> list[str]:
    asked: list[str] = []

    def answer(host: str, port: int, *_: Any, **__: Any) -> list[Any]:
        asked.append(host)
        if not addresses:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in addresses]

    monkeypatch.setattr(socket, "getaddrinfo", answer)
    return asked


def test_only_the_addresses_that_may_be_called_are_left(monkeypatch: pytest.MonkeyPatch) -> None:
    _names(monkeypatch, "10.0.0.1", "8.8.8.8", "8.8.8.8")
    assert resolved("mixed.example", 443, NOBODY, 1) == ["8.8.8.8"]


def test_a_refusal_names_the_address_and_the_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    _names(monkeypatch, "10.0.0.1")
    with pytest.raises(NotPossible) as caught:
        resolved("am.example", 443, NOBODY, 1)
    assert "am.example has the address 10.0.0.1, which is not public." in str(caught.value)
    assert "GPUDASH_NOTIFY_ALLOW" in str(caught.value)


def test_a_name_without_an_address_is_for_later(monkeypatch: pytest.MonkeyPatch) -> None:
    _names(monkeypatch)
    with pytest.raises(NotSent, match=r"nowhere\.example cannot be resolved"):
        resolved("nowhere.example", 443, NOBODY, 1)


@pytest.mark.parametrize("host", ["2130706433", "0x7f.1", "127.1", "017700000001"])
def test_other_ways_to_write_an_address_are_resolved_first(host: str) -> None:
    with pytest.raises(NotPossible, match=r"127\.0\.0\.1"):
        resolved(host, 80, NOBODY, 1)
