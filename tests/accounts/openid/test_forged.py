"""ID tokens that the issuer did not sign, or not for this sign-in: each is refused."""

from __future__ import annotations

import time
from typing import Any

import jwt
import pytest
from django.contrib.auth.models import User
from django.test import Client

from tests.accounts.openid.asking import sign_in
from tests.accounts.openid.issuer import CLIENT, CLIENT_SECRET, KID, Issuer, new_key

pytestmark = pytest.mark.django_db


def hmac_of_the_public_key(there: Issuer) -> Any:
    """As those try who hope that the algorithm is taken from the token."""
    public = str(there.answer("/keys", b"")["keys"][0]["n"])
    return lambda claims: jwt.encode(claims, public, algorithm="HS256", headers={"kid": KID})


FORGED: dict[str, Any] = {
    "another key": lambda there: lambda claims: jwt.encode(claims, new_key(), algorithm="RS256", headers={"kid": KID}),
    "a key that is not there": lambda there: (
        lambda claims: jwt.encode(claims, there.key, algorithm="RS256", headers={"kid": "second"})
    ),
    "no signature": lambda there: lambda claims: jwt.encode(claims, None, algorithm="none", headers={"kid": KID}),
    "a secret": hmac_of_the_public_key,
    "the client's secret": lambda there: (
        lambda claims: jwt.encode(claims, CLIENT_SECRET * 3, algorithm="HS256", headers={"kid": KID})
    ),
    "no token": lambda there: lambda claims: "",
    "no JWT": lambda there: lambda claims: "a.b.c",
}


@pytest.mark.parametrize("how", FORGED)
def test_a_forged_token_signs_nobody_in(there: Issuer, how: str) -> None:
    there.sign = FORGED[how](there)
    refused(there)


@pytest.mark.parametrize(
    "claims",
    [
        {"iss": "https://other.example"},
        {"aud": "another-client"},
        {"aud": [CLIENT, "another-client"]},
        {"aud": [CLIENT, "another-client"], "azp": "another-client"},
        {"exp": int(time.time()) - 60},
        {"exp": None},
        {"iat": int(time.time()) + 600},
        {"nonce": "of-another-sign-in"},
        {"nonce": None},
        {"sub": None},
        {"sub": ""},
        {"sub": "x" * 400},
    ],
    ids=lambda claims: " ".join(claims),
)
def test_a_token_for_something_else_signs_nobody_in(there: Issuer, claims: dict[str, Any]) -> None:
    refused(there, **claims)


def refused(there: Issuer, **claims: Any) -> None:
    client = Client()
    answer = sign_in(there, client, **claims)
    assert (answer.status_code, "Sign-in failed or timed out" in answer.content.decode()) == (400, True)
    assert client.get("/account").status_code == 302
    assert not User.objects.exists()
