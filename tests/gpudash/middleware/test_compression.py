"""Every text goes out compressed to who takes it so, whatever the address; what shows a secret goes out as it is."""

from __future__ import annotations

import gzip
import re
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from django.urls import get_resolver

from accounts.roles import Role
from inventory.models import Card, Cluster
from tests.accounts.test_every_url import routes
from tests.cast import PASSWORD, make_user, signed_in
from tests.factories import make_fleet, make_node

pytestmark = pytest.mark.django_db
LEAST_BYTES = 1000
FORMATS = ("nodes", "cards", "allocations", "findings", "validations", "namespaces", "namespaces/chargeback", "audit")
#: They are compressed already, or shown to a person once.
NOT_TEXT = re.compile(r"image/(?!svg)|font/|application/(zip|octet-stream)")


def addresses(cluster: Cluster) -> list[str]:
    """Every route that takes a GET, with something that is there; CSV of what has one; every file of ours and of others."""
    there = {
        "<str:cluster>": cluster.name,
        "<str:cluster_name>": cluster.name,
        "<str:name>": "a",
        "<int:card_id>": str(Card.objects.order_by("pk")[0].pk),
        "<slug:name>": "access",
        "<str:suite_id>": "cuda-vectoradd",
        "<int:user_id>": "1",
    }
    found = []
    for route, _module in routes(get_resolver()):
        path = "/" + route.replace("clusters/<str:name>", f"clusters/{cluster.name}").strip("^$")
        for name, value in there.items():
            path = path.replace(name, value)
        if "<" not in path and "sign-out" not in path:
            found.append(path)
    found += [f"/{name}?format=csv" for name in FORMATS]
    static = Path(settings.BASE_DIR) / "static"
    files = [one.relative_to(static) for one in static.rglob("*") if one.suffix in (".js", ".css", ".svg")]
    return found + [f"/static/{one}" for one in files]


def with_password(name: str, role: Role) -> Client:
    """Who has one has a second step too."""
    user = make_user(name, role)
    user.set_password(PASSWORD)
    user.save()
    return signed_in(user)


def test_no_text_goes_out_as_it_is(cluster: Cluster) -> None:
    make_node(cluster, "a", "nvidia", 4)
    make_fleet(cluster, nodes=7, cards=4)
    client = with_password("root", Role.ADMIN)
    plain, large = {}, 0
    for path in addresses(cluster):
        response: Any = client.get(path, headers={"Accept-Encoding": "gzip"})
        body = response.getvalue()
        packed = response.headers.get("Content-Encoding") == "gzip"
        text = gzip.decompress(body) if packed else body
        large += len(text) > LEAST_BYTES
        if len(text) > LEAST_BYTES and not packed and not NOT_TEXT.match(response.headers["Content-Type"]):
            plain[path] = (len(text), response.headers["Content-Type"])
        if packed:
            assert "Accept-Encoding" in response.headers["Vary"], path
    assert plain == {"/account/two-factor": plain["/account/two-factor"]}
    assert large > 60


def test_a_page_that_shows_a_secret_is_not_compressed() -> None:
    client = with_password("vera", Role.VIEWER)
    client.post("/account/tokens", {"name": "ci", "role": "viewer", "expires_in_days": 5, "scope": "all"})
    shown, again = (client.get("/account", headers={"Accept-Encoding": "gzip"}) for _ in range(2))
    assert b"gpd_" in shown.content
    assert "no-transform" in shown.headers["Cache-Control"]
    assert ("Content-Encoding" in shown.headers, "Content-Encoding" in again.headers) == (False, True)
    app = client.get("/account/two-factor", headers={"Accept-Encoding": "gzip"})
    assert "Content-Encoding" not in app.headers


def test_a_part_of_a_file_is_of_the_file() -> None:
    headers = {"Accept-Encoding": "gzip", "Range": "bytes=10-29"}
    part: Any = Client().get("/static/css/frame.css", headers=headers)
    whole = (Path(settings.BASE_DIR) / "static" / "css" / "frame.css").read_bytes()
    assert (part.status_code, part.getvalue()) == (206, whole[10:30])
