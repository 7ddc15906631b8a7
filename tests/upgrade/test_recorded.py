"""What earlier releases wrote, under this one: numbers stay, every page answers, and watchers go on that were there all the time."""

from __future__ import annotations

import json
import subprocess
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from fleetsim import Fleet, serve
from tests import services
from tests.services import Missing, free_port, wait_until
from tests.upgrade.record import NODES, Release, checkout
from tests.upgrade.recorded import DATABASES, RELEASES, Restored, differences, restored, shown

pytestmark = [pytest.mark.sweep, pytest.mark.timeout(420, func_only=True)]
Restore = Callable[[str, str], Restored]

#: A kind that is in sync, or of which there is nothing to read.
BEHIND = (
    "SELECT count(*) FROM inventory_watch WHERE state NOT IN ('watching', 'not-served', 'not-needed') "
    "OR (state = 'watching' AND (synced_at IS NULL OR holder = ''))"
)


@pytest.fixture
def restore(tmp_path: Path) -> Iterator[Restore]:
    with ExitStack() as stack:

        def make(release: str, database: str) -> Restored:
            try:
                return stack.enter_context(restored(release, database, tmp_path / "data"))
            except Missing as missing:
                services.or_skip(missing)
                raise

        yield make


@pytest.fixture
def fleet(tmp_path: Path) -> Iterator[str]:
    """A living cluster with nodes of the recorded names; its kubeconfig."""
    with serve(Fleet(nodes=NODES, seed=1)) as running:
        yield str(running.kubeconfig(tmp_path / "kubeconfig"))


def readyz(port: int) -> tuple[int, dict[str, Any]]:
    """Status and parts; (0, {}) while nobody answers."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=10) as answer:
            return answer.status, json.load(answer)["parts"]
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)["parts"]
    except OSError:
        return 0, {}


@pytest.mark.parametrize("database", DATABASES)
@pytest.mark.parametrize("release", RELEASES)
def test_numbers_stay_and_every_page_answers(restore: Restore, release: str, database: str) -> None:
    one = restore(release, database)
    # As when it was recorded: what nobody watches any more is not called free.
    now = datetime.now(UTC)
    one.run("UPDATE inventory_watch SET last_event_at = %s, expires_at = %s", str(now), str(now + timedelta(hours=1)))
    one.processes.call("migrate", "--noinput", "--verbosity", "0")
    before, after = shown(release, database), one.visit()
    assert {address: status for address, status in after["pages"].items() if status != 200} == {}
    assert len(after["pages"]) > 30
    assert {name for name, rows in before["rest"].items() if not rows} == set(), (
        "the recording has something of everything"
    )
    assert [one for one in differences(before, after) if " last_event_at: " not in one] == []  # that was just written


@pytest.mark.parametrize("database", DATABASES)
def test_watchers_and_web_that_start_before_the_tables_are_changed_go_on_after(
    restore: Restore, database: str, fleet: str
) -> None:
    one = restore("before-0.2", database)
    one.run("UPDATE inventory_cluster SET kubeconfig = %s, uid = '', context = ''", fleet)
    runs = len(shown("before-0.2", database)["rest"]["runs"])
    port = free_port()
    web = one.processes.manage("serve", "--listen", f"127.0.0.1:{port}", name="web")
    watchers = one.processes.manage("sync", name="watchers")
    wait_until(lambda: readyz(port)[0] == 503, "the web process says that tables are not today's", 60)
    assert "migrate" in readyz(port)[1]["migrations"]["reason"]
    one.processes.call("migrate", "--noinput", "--verbosity", "0")
    wait_until(lambda: readyz(port)[1].get("migrations", {}).get("ok", False), "the web process goes on", 60)
    wait_until(lambda: one.run(BEHIND) == [(0,)], "the watchers are in sync", 120, 0.5)
    assert (web.poll(), watchers.poll()) == (None, None)
    after = one.visit()
    assert {address: status for address, status in after["pages"].items() if status != 200} == {}
    assert (len(after["rest"]["nodes"]), len(after["rest"]["runs"])) == (NODES, runs)


def test_the_release_before_works_on_while_the_tables_are_changed_and_after(
    restore: Restore, fleet: str, tmp_path: Path
) -> None:
    """Expand, then contract: processes of the old code read and write the new tables until they are replaced."""
    commit = shown("before-0.2", "postgresql")["commit"]
    try:
        code = checkout(commit, tmp_path / "code")
    except subprocess.CalledProcessError:
        services.or_skip(Missing(f"the history has no commit {commit}; git fetch --unshallow"))
    one = restore("before-0.2", "postgresql")
    one.run("UPDATE inventory_cluster SET kubeconfig = %s, uid = '', context = ''", fleet)
    folder = tmp_path / "old"
    folder.mkdir(mode=0o700)
    old = Release(code, folder, one.url)
    watchers = old.start("sync")
    try:
        wait_until(lambda: one.run(BEHIND) == [(0,)], "the old watchers are in sync", 120, 0.5)
        one.processes.call("migrate", "--noinput", "--verbosity", "0")
        at = one.run("SELECT now()")[0][0]
        newer = "SELECT count(*) FROM inventory_watch WHERE last_event_at > %s AND kind IN ('pods', 'cards')"
        wait_until(
            lambda: one.run(newer, at) == [(2,)], "the old watchers write pods and cards into the new tables", 120
        )
        pages = old.shown()["pages"]
        assert {address: status for address, status in pages.items() if status != 200} == {}
        assert watchers.poll() is None
    finally:
        services.end(watchers)
    said = (folder / "sync.log").read_text()
    assert [line for line in said.splitlines() if "Error" in line or "Traceback" in line] == []
    one.processes.manage("sync", name="watchers")
    wait_until(lambda: one.run(BEHIND) == [(0,)], "the new watchers are in sync", 120, 0.5)
    after = one.visit()
    assert {address: status for address, status in after["pages"].items() if status != 200} == {}
