"""How often one may ask: by address, by token, without anybody using another's share up."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from accounts.roles import Role
from gpudash.middleware.request_limit import Buckets, buckets
from tests.cast import bearer, make_token, make_user


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_a_quarter_may_come_at_once_and_the_rest_evenly() -> None:
    clock = Clock()
    some = Buckets(clock=clock)
    taken = [some.take([(b"a", 60)]) for _ in range(16)]
    assert taken == [*[0.0] * 15, pytest.approx(1.0)]
    clock.now += 0.5
    assert some.take([(b"a", 60)]) == pytest.approx(0.5), "what is refused is not counted"
    clock.now += 0.5
    assert some.take([(b"a", 60)]) == 0.0
    clock.now += 60.0
    assert [some.take([(b"a", 60)]) for _ in range(15)] == [0.0] * 15, "what was not asked for is not saved up for ever"
    assert some.take([(b"a", 60)]) > 0
    assert some.take([(b"b", 60)]) == 0.0


def test_where_one_is_full_none_of_them_is_charged() -> None:
    some = Buckets(clock=Clock())
    while some.take([(b"token", 8)]) == 0.0:
        pass
    for _ in range(100):
        assert some.take([(b"address", 60), (b"token", 8)]) > 0
    assert [some.take([(b"address", 60)]) for _ in range(15)] == [0.0] * 15


def test_a_limit_below_four_lets_one_in() -> None:
    clock = Clock()
    some = Buckets(clock=clock)
    assert some.take([(b"a", 1)]) == 0.0
    assert some.take([(b"a", 1)]) == pytest.approx(60.0)


def test_of_many_the_ones_that_asked_longest_ago_are_forgotten() -> None:
    some = Buckets(most=100, clock=Clock())
    for number in range(1000):
        some.take([(str(number).encode(), 60)])
    assert len(some) == 100


@pytest.fixture
def two_at_once(settings: Any) -> None:
    settings.REQUESTS_PER_MINUTE = 8
    settings.REQUESTS_PER_MINUTE_ADDRESS = 0


def test_rest_says_429_and_when_to_come_again(db: None, two_at_once: None) -> None:
    vera = make_user("vera", Role.VIEWER)
    first, second = (bearer(make_token(vera, Role.VIEWER)) for _ in range(2))
    answers = [first.get("/api/v1/clusters") for _ in range(3)]
    assert [one.status_code for one in answers] == [200, 200, 429]
    refused = answers[-1]
    assert 1 <= int(refused.headers["Retry-After"]) <= 8
    assert refused.headers["Content-Type"] == "application/problem+json"
    assert f"Try again in {refused.headers['Retry-After']} s" in refused.json()["detail"]
    assert second.get("/api/v1/clusters").status_code == 200, "another token has a share of its own"


def test_how_the_header_is_written_gives_no_token_a_second_share(db: None, two_at_once: None) -> None:
    token = make_token(make_user("vera", Role.VIEWER), Role.VIEWER)
    key = token.split("_")[1]
    written = [
        f"Bearer {token}",
        f"bEaReR {token}",
        f"BEARER   {token} ",
        f"bearer {token}",
        f"Bearer gpd_0{key}{token[4 + len(key) :]}",
    ]
    statuses = [Client().get("/api/v1/clusters", HTTP_AUTHORIZATION=one).status_code for one in written]
    assert statuses == [200, 200, 429, 429, 401]


def test_who_has_not_got_a_token_cannot_use_its_share_up(db: None, two_at_once: None) -> None:
    token = make_token(make_user("vera", Role.VIEWER), Role.VIEWER)
    forged = bearer(token[:-1] + ("a" if token[-1] != "a" else "b"))
    assert {forged.get("/api/v1/clusters").status_code for _ in range(9)} == {401, 429}
    assert bearer(token).get("/api/v1/clusters").status_code == 200


def test_an_address_has_a_limit_for_pages_too_and_probes_have_none(client: Client, settings: Any) -> None:
    settings.REQUESTS_PER_MINUTE_ADDRESS = 8
    statuses = [client.get("/sign-in", REMOTE_ADDR="10.0.0.1").status_code for _ in range(3)]
    assert statuses == [200, 200, 429]
    refused = client.get("/sign-in", REMOTE_ADDR="10.0.0.1")
    assert refused.headers["Content-Type"].startswith("text/plain")
    assert refused.headers["Retry-After"]
    assert client.get("/sign-in", REMOTE_ADDR="10.0.0.2").status_code == 200
    assert {client.get("/healthz", REMOTE_ADDR="10.0.0.1").status_code for _ in range(20)} == {200}


def test_of_ipv6_a_network_is_one_and_a_socket_without_addresses_has_no_limit(client: Client, settings: Any) -> None:
    settings.REQUESTS_PER_MINUTE_ADDRESS = 8
    codes = [client.get("/sign-in", REMOTE_ADDR=f"2001:db8::{number}").status_code for number in range(3)]
    assert codes == [200, 200, 429]
    assert {client.get("/sign-in", REMOTE_ADDR="").status_code for _ in range(9)} == {200}


def test_zero_is_no_limit(client: Client, settings: Any) -> None:
    settings.REQUESTS_PER_MINUTE_ADDRESS = settings.REQUESTS_PER_MINUTE = 0
    assert {client.get("/sign-in").status_code for _ in range(50)} == {200}
    assert len(buckets) == 0
