"""The limits on guessing: who is slowed, who never is, and that tries at the same moment are counted one by one."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import timedelta
from itertools import count
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts import passwords, sign_in_limit, visitor
from accounts.models import KnownAddress, SignInAllowance
from accounts.roles import Role
from accounts.sign_in_limit import Limit, TooManyTries, Use
from tests.cast import PASSWORD, make_user, signed_in

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def user() -> User:
    made = make_user("vera", Role.VIEWER)
    made.set_password(PASSWORD)
    made.save()
    return made


def sign_in(client: Client, password: str = "wrong", name: str = "vera", at: str = "10.0.0.1", **headers: Any) -> Any:
    return client.post("/sign-in", {"username": name, "password": password}, REMOTE_ADDR=at, **headers)


def guess(times: int, name: str = "vera", at: str = "10.0.0.1") -> list[int]:
    """Each try by a client without a cookie."""
    return [sign_in(Client(), name=name, at=at).status_code for _ in range(times)]


def strange_addresses() -> Iterator[str]:
    return (f"10.1.{number // 250}.{number % 250 + 1}" for number in count())


def test_after_five_failures_even_the_right_password_waits() -> None:
    assert guess(5) == [200] * 5
    blocked = sign_in(Client(), PASSWORD)
    assert blocked.status_code == 429
    assert 0 < int(blocked.headers["Retry-After"]) <= 180
    assert "Too many failed attempts" in blocked.content.decode()
    assert PASSWORD not in blocked.content.decode()


@pytest.mark.parametrize("name", ["vera ", " vera", "\tvera", "ｖｅｒａ", "ｖera\u3000"])
def test_no_spelling_of_a_name_gets_more_tries(name: str) -> None:
    assert guess(5, name) == [200] * 5
    assert guess(1, "vera") == [429]


def test_what_is_refused_is_not_counted() -> None:
    guess(30)
    assert SignInAllowance.objects.get(key__startswith="pair").free_at <= timezone.now() + sign_in_limit.PAIR.window


def test_another_name_and_another_address_are_not_held_up() -> None:
    guess(6)
    assert sign_in(Client(), PASSWORD, at="10.0.0.2").status_code == 302
    assert guess(1, "other") == [200]


def test_an_unknown_name_is_counted_and_answered_like_a_known_one() -> None:
    known, unknown = ([sign_in(Client(), name=name) for _ in range(6)] for name in ("vera", "nobody"))
    assert [answer.status_code for answer in known] == [answer.status_code for answer in unknown] == [200] * 5 + [429]
    texts = [answer.context["form"].errors.as_json() for answer in (known[0], unknown[0])]
    assert texts[0] == texts[1]


def test_an_unknown_name_takes_as_many_queries() -> None:
    counted = []
    for name in ("vera", "nobody"):
        with CaptureQueriesContext(connection) as queries:
            guess(1, name)
        counted.append(len(queries))
    assert counted[0] == counted[1]


def test_one_address_is_slowed_over_all_names() -> None:
    assert guess(sign_in_limit.ADDRESS.tries, at="10.0.0.9").count(200) == 5
    statuses = [guess(1, f"name{number}", "10.0.0.9")[0] for number in range(sign_in_limit.ADDRESS.tries)]
    assert statuses.count(200) == sign_in_limit.ADDRESS.tries - 5
    assert statuses[-1] == 429


def test_the_addresses_of_one_ipv6_subscriber_are_one() -> None:
    assert [guess(1, at=f"2001:db8::{number}")[0] for number in range(6)] == [200] * 5 + [429]
    assert guess(1, at="2001:db8:0:1::1") == [200]


def test_an_account_is_slowed_over_all_addresses_but_not_for_its_owner() -> None:
    owner = Client()
    assert sign_in(owner, PASSWORD, at="192.0.2.7").status_code == 302
    addresses = strange_addresses()
    statuses = [guess(1, at=next(addresses))[0] for _ in range(sign_in_limit.ACCOUNT.tries + 3)]
    assert statuses == [200] * sign_in_limit.ACCOUNT.tries + [429] * 3
    assert sign_in(Client(), PASSWORD, at=next(addresses)).status_code == 429
    assert sign_in(Client(), PASSWORD, at="192.0.2.7").status_code == 302


def test_nobody_at_the_same_address_locks_out_a_browser_that_has_signed_in() -> None:
    owner = Client()
    sign_in(owner, PASSWORD)
    owner.post("/sign-out")
    assert guess(6)[-1] == 429
    assert sign_in(owner, PASSWORD).status_code == 302
    assert sign_in(owner, PASSWORD, at="203.0.113.9").status_code == 302


def test_the_cookie_of_a_browser_counts_for_its_account_only_and_is_limited_too() -> None:
    owner, other = Client(), make_user("otto", Role.VIEWER)
    sign_in(owner, PASSWORD)
    owner.post("/sign-out")
    assert [sign_in(owner, name="otto").status_code for _ in range(6)] == [200] * 5 + [429]
    tries = sign_in_limit.DEVICE.tries
    assert [sign_in(owner).status_code for _ in range(tries + 1)] == [200] * tries + [429]
    assert not KnownAddress.objects.filter(user=other).exists()


@pytest.mark.parametrize("value", ["x", "a:b:c", "é", "", "x" * 3000])
def test_a_made_up_cookie_is_none(value: str) -> None:
    client = Client()
    client.cookies[visitor.COOKIE] = value
    assert [sign_in(client).status_code for _ in range(6)] == [200] * 5 + [429]


def test_the_cookie_is_for_this_service_alone(settings: Any) -> None:
    settings.TLS, settings.BASE_PATH = True, "/gpudash/"
    cookie = sign_in(Client(), PASSWORD).cookies[visitor.COOKIE]
    assert (cookie["path"], cookie["secure"], cookie["httponly"], cookie["samesite"]) == (
        "/gpudash/",
        True,
        True,
        "Lax",
    )


def test_signing_in_well_clears_the_pair_and_costs_nothing_elsewhere() -> None:
    client = Client()
    sign_in(client)
    assert sign_in(client, PASSWORD).status_code == 302
    assert not SignInAllowance.objects.filter(key__startswith="pair").exists()
    left = SignInAllowance.objects.get(key__startswith="address").free_at - timezone.now()
    assert left <= sign_in_limit.ADDRESS.step


def test_the_tables_do_not_grow(user: User, monkeypatch: Any) -> None:
    long_ago = timezone.now() - timedelta(seconds=1)
    rows = [SignInAllowance(key=f"pair {number}", free_at=long_ago) for number in range(sign_in_limit.SWEPT_AT_ONCE)]
    SignInAllowance.objects.bulk_create(rows)
    guess(1)
    assert SignInAllowance.objects.count() == 3
    monkeypatch.setattr(visitor, "MOST_ADDRESSES", 3)
    for address in ("10.0.0.2", "10.0.0.3", "10.0.0.4", "10.0.0.5"):
        sign_in(Client(), PASSWORD, at=address)
    assert set(KnownAddress.objects.values_list("address", flat=True)) == {"10.0.0.3", "10.0.0.4", "10.0.0.5"}
    KnownAddress.objects.update(seen_at=timezone.now() - visitor.KNOWN_FOR)
    sign_in(Client(), PASSWORD)
    assert KnownAddress.objects.get().address == "10.0.0.1"


def test_a_bucket_drains_one_try_a_step() -> None:
    use = Use("x", Limit(3, timedelta(minutes=3)))
    for _ in range(3):
        sign_in_limit.take([use])
    with pytest.raises(TooManyTries) as refused:
        sign_in_limit.take([use])
    assert math.ceil(refused.value.wait.total_seconds()) == 60
    row = SignInAllowance.objects.get()
    row.free_at -= timedelta(minutes=1)
    row.save()
    sign_in_limit.take([use])
    with pytest.raises(TooManyTries):
        sign_in_limit.check([use])


def test_one_limit_that_refuses_leaves_the_others_as_they_were() -> None:
    narrow, wide = Use("narrow", Limit(1, timedelta(minutes=1))), Use("wide", Limit(9, timedelta(minutes=9)))
    sign_in_limit.take([narrow])
    with pytest.raises(TooManyTries):
        sign_in_limit.take([wide, narrow])
    assert not SignInAllowance.objects.filter(key="wide").exists()


def test_a_password_that_is_too_long_is_not_hashed(monkeypatch: Any) -> None:
    monkeypatch.setattr(passwords, "checks", passwords.PasswordChecks(1))
    with passwords.checks.one(known=False):  # whoever hashes now would be refused
        assert sign_in(Client(), "x" * (passwords.MAX_LENGTH + 1)).status_code == 200
        assert sign_in(Client(), "").status_code == 200
        busy = sign_in(Client(), "x" * passwords.MAX_LENGTH)
    assert (busy.status_code, busy.headers["Retry-After"]) == (503, "2")
    assert "Try again in a few seconds" in busy.content.decode()
    assert not SignInAllowance.objects.exists()


def test_a_password_that_could_not_sign_in_cannot_be_set() -> None:
    long = "correct horse " * 100
    form = {"old_password": PASSWORD, "new_password1": long, "new_password2": long}
    assert "at most 1024" in signed_in(User.objects.get()).post("/account/password", form).content.decode()


def test_one_check_is_kept_for_who_is_known(monkeypatch: Any) -> None:
    owner = Client()
    sign_in(owner, PASSWORD)
    owner.post("/sign-out")
    monkeypatch.setattr(passwords, "checks", passwords.PasswordChecks(2))
    with passwords.checks.one(known=False):
        assert sign_in(Client(), PASSWORD, at="10.0.0.77").status_code == 503
        assert sign_in(owner, PASSWORD).status_code == 302


def test_who_found_a_session_cannot_guess_the_password_there(user: User) -> None:
    client = signed_in(user)
    form = {"old_password": "wrong", "new_password1": "another good phrase", "new_password2": "another good phrase"}
    tries = sign_in_limit.DEVICE.tries
    assert [client.post("/account/password", form).status_code for _ in range(tries + 1)] == [200] * tries + [429]
    assert sign_in(Client(), PASSWORD).status_code == 302
