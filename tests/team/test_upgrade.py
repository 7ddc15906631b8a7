"""From the last release to this one, by the section of the page, with rows that the old code wrote."""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.controlplane.admin import Admin
from tests.services import wait_until
from tests.team import page, release
from tests.team.cast import PASSWORD, Browser, agrees, in_step, rest, web_answers
from tests.team.conftest import follow
from tests.team.host import Host

pytestmark = [pytest.mark.team, pytest.mark.timeout(900)]

OLD = "/root/old"
#: What the last release needs and today's lock has no more. An upgrade leaves it in the environment; a new one has never had it.
ITS_PACKAGES = ("drf_spectacular_sidecar",)
#: The settings of the last release, whose commands knew of no file.
SETTINGS = (
    "set -a; . /etc/gpudash/gpudash.env; set +a; unset GPUDASH_DATABASE_PASSWORD; "
    "export GPUDASH_ENV=local GPUDASH_DATA_DIR=/root/old-data"
)


def test_the_tables_of_the_last_release_become_todays(host: Host, admin: Admin) -> None:
    secret = _as_it_was(host)
    steps = page.steps("Upgrade", the_release=release.NOW)
    follow(host, steps)
    web_answers(host)
    assert Browser(host).sign_in("old-hand", PASSWORD) in (200, 302)
    assert [row["name"] for row in rest(host, secret, "clusters")["results"]] == ["lab"]
    wait_until(lambda: in_step(host), "all watchers are in sync", 60, 1)
    agrees(host, secret, admin)


def _as_it_was(host: Host) -> str:
    """Empty tables, filled by the code of the last release: an account, a token, a cluster, its mirror. Returns the token."""
    host.run("systemctl stop gpudash-web gpudash-watch gpudash-launch gpudash-tasks gpudash-usage gpudash-schedule")
    host.run("runuser -u postgres -- dropdb gpudash && runuser -u postgres -- createdb --owner gpudash gpudash")
    host.run(f"git clone --quiet --branch last-release /srv/gpudash.git {OLD}")
    for name in ITS_PACKAGES:
        found = find_spec(name)
        assert found is not None, f"{name} is in requirements-dev.lock"
        assert found.origin is not None
        shutil.copytree(Path(found.origin).parent, host.root / OLD.lstrip("/") / name)
    address = "postgresql:///gpudash?host=/run/postgresql"

    def old(command: str, stdin: str = "") -> str:
        """As the owner of the tables: the role of the operating system's user of that name."""
        words = f"{SETTINGS}; export GPUDASH_DATABASE_URL='{address}' GPUDASH_STATIC_ROOT=/root/old-static"
        python = "setpriv --reuid gpudash --regid gpudash --init-groups /opt/gpudash/venv/bin/python"
        return host.run(f"{words}; {python} {OLD}/manage.py {command}", stdin)

    host.run(
        "mkdir -p /root/old-data /root/old-static && chown gpudash /root/old-data /root/old-static && chmod 711 /root"
    )
    old("migrate --noinput --verbosity 0")
    old("user create old-hand --role admin --password-stdin", f"{PASSWORD}\n")
    old("cluster add lab --kubeconfig /etc/gpudash/watcher/lab")
    assert "in step after" in old("sync --once")
    return old("token create old-hand --role admin --name old 2>/dev/null").strip().splitlines()[-1]
