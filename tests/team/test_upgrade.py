"""The steps of docs/team.md, Upgrade, keep accounts, tokens and synced data. Until 1.1 the release that they install is this one."""

from __future__ import annotations

import pytest

from tests.controlplane.admin import Admin
from tests.team import page
from tests.team.cast import PASSWORD, Browser, agrees, all_in_sync, rest, web_answers
from tests.team.conftest import WHEELS, follow
from tests.team.host import Host
from tests.wheel import build

pytestmark = [pytest.mark.team, pytest.mark.timeout(900)]


def test_the_steps_keep_what_is_there(host: Host, admin: Admin) -> None:
    host.run("gpudash user create old-hand --role admin --password-stdin", f"{PASSWORD}\n")
    printed = host.run("gpudash token create old-hand --role admin --name old 2>/dev/null")
    secret = printed.strip().splitlines()[-1]
    clusters = [row["name"] for row in rest(host, secret, "clusters")["results"]]
    follow(host, page.steps("Upgrade", the_new_wheel=f"{WHEELS}/{build.NAME}"))
    web_answers(host)
    assert Browser(host).sign_in("old-hand", PASSWORD) in (200, 302)
    assert [row["name"] for row in rest(host, secret, "clusters")["results"]] == clusters == ["lab"]
    all_in_sync(host)
    agrees(host, secret, admin)
