"""The demo's fleet is measured by what its exporters export: read once in this process, and by the running command."""

from __future__ import annotations

import re
import shutil
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from accounts.roles import Role
from fleetsim import Fleet, serve
from fleetsim.usage import Case, value
from fleetsim.usage.cases import FALLEN, HOT
from inventory.models import Allocation, Card, CardUsage, UsageSource
from inventory.models.usage import SourceState
from tests.cast import make_user, signed_in
from tests.database import connected_to
from tests.pages.reading import get
from tests.processes import Processes
from tests.services import free_port, wait_until
from tests.visitor import Visitor

START = 1_780_000_000.0
MIB = 1 << 20
COUNT_ONLY = "dgx-a100-01"
#: Seconds within which a demo has to show what its cards use.
PROMISED_S = 120.0


@dataclass(frozen=True)
class Read:
    """A fleet whose time stands still, after two rounds of its exporters. before: evidences of a count-only node without them."""

    fleet: Fleet
    before: Counter[str]

    def uuid(self, node: str, card: int) -> str:
        return self.fleet.world.scheduler.by_name[node].uuids[card]


@pytest.fixture(scope="module")
def read(migrated_file: Path, tmp_path_factory: pytest.TempPathFactory, django_db_blocker: Any) -> Iterator[Read]:
    """For all tests of this process: they change nothing of the fleet."""
    folder = tmp_path_factory.mktemp("read")
    own = Path(shutil.copy(migrated_file, folder / "own.sqlite3"))
    with django_db_blocker.unblock(), connected_to(own), serve(Fleet(seed=1, now=START), live=False) as server:
        call_command("cluster", "add", "demo", "--kubeconfig", str(server.kubeconfig(folder / "kubeconfig")))
        call_command("sync", "--once")
        before = Counter(_evidence(COUNT_ONLY))
        call_command("cluster", "set", "demo", "--exporters-directly")
        # The first round tells the reconciler which cards there are, the second finds them.
        call_command("sync", "--once")
        call_command("sync", "--once")
        yield Read(server.fleet, before)


def test_cards_are_measured_as_the_fleet_uses_them(read: Read) -> None:
    measured = {_bare(row.uuid): row for row in CardUsage.objects.exclude(card=None)}
    formats = Counter(row.format for row in measured.values())
    assert formats["dcgm-exporter"] > 40
    assert {name: formats[name] for name in ("hami-monitor", "volcano-vgpu", "nvidia-gpu-exporter")} == {
        "hami-monitor": 8,
        "volcano-vgpu": 4,
        "nvidia-gpu-exporter": 6,
    }
    checked = 0
    for machine, spot, use in read.fleet.uses():
        row = measured.get(_bare(machine.uuids[spot.card]))
        # Of a card that is cut the product adds up the slices, each of which has a driver's floor.
        if row is None or machine.kind.dra == "slices" or use.case == Case.LOST:
            continue
        wanted = value(use, read.fleet.now)
        assert row.memory_used_bytes is not None, spot
        assert abs(row.memory_used_bytes - wanted.memory_used) <= MIB, spot
        assert row.utilization_ratio == pytest.approx(wanted.utilization, abs=0.006)
        checked += 1
    assert checked > 60


def test_which_pod_is_on_which_card_is_known_where_only_their_number_was(read: Read) -> None:
    assert set(read.before) == {"count-only"}
    assert set(_evidence(COUNT_ONLY)) == {"exporter"}
    cards = {_bare(row.uuid): row.pk for row in Card.objects.filter(node_name=COUNT_ONLY)}
    held = Allocation.objects.filter(node_name=COUNT_ONLY, ended_at=None).values_list("card_id", "pod")
    wanted = [
        (cards[_bare(machine.uuids[spot.card])], one.who.pod)
        for machine, spot, use in read.fleet.uses()
        for one in use.holders(START)
        if spot.node == COUNT_ONLY
    ]
    assert sorted(held) == sorted(wanted)
    assert wanted


def test_pages_say_which_card_is_sick_and_which_exporter_is_silent(read: Read) -> None:
    viewer = signed_in(make_user("vera", Role.VIEWER))

    def card(number: int) -> str:
        found = Card.objects.get(node_name="dgx-h100-02", uuid=read.uuid("dgx-h100-02", number))
        return get(viewer, f"/cards/{found.pk}").text

    assert "Xid 79" in card(FALLEN)
    assert "too hot" in card(HOT)
    assert "too hot" not in card(0)
    source = UsageSource.objects.get()
    assert source.state == SourceState.READING
    assert source.reason.count("nvidia-dcgm-exporter-") == 1
    assert "503" in source.reason


def _bare(uuid: str) -> str:
    return uuid.lower().removeprefix("gpu-")


def _evidence(node: str) -> list[str]:
    return list(Allocation.objects.filter(node_name=node, ended_at=None).values_list("evidence", flat=True))


def _logged(processes: Processes) -> str:
    """What the terminal and the log file have."""
    return "".join(log.read_text() for log in (processes.log("demo"), processes.log("gpudash")) if log.exists())


def _printed(processes: Processes, pattern: str) -> str:
    found: list[str] = []

    def there() -> bool:
        found.extend(re.findall(pattern, _logged(processes)))
        return bool(found)

    wait_until(there, f"the demo prints {pattern}", patience_s=240)
    return found[0]


@pytest.mark.sweep
@pytest.mark.timeout(900)
def test_the_running_demo_measures_its_cards_and_finds_who_is_idle(tmp_path: Path) -> None:
    processes = Processes(tmp_path, "", GPUDASH_ENV_FILE="")
    with processes.ended():
        began = time.monotonic()
        processes.manage("demo", "--port", str(free_port()))
        link = _printed(processes, r"http://\S+/sign-in/link/\S+")
        visitor = Visitor(link, processes.call("token", "create", "local").split()[-1])
        _measured_in_time(visitor, began)
        assert re.search(
            "with [0-9]{5} allocations, .* 2[0-9]{2} runs and 5 campaigns",
            _printed(processes, "The history is complete: .*"),
        )
        assert len(visitor.all("runs")) > 100
        assert re.findall("^.* ERROR .*$", _logged(processes), re.MULTILINE) == []
        # The terminal keeps the link: nothing but warnings comes after it.
        last = processes.log("demo").read_text().partition("Sign in: ")[2]
        assert not re.search(" (?:INFO|DEBUG) ", last)
        # What stopped after three minutes is told by name, as what never spoke.
        wait_until(
            lambda: "hami-device-plugin-" in processes.call("cluster", "list"),
            "an exporter fell silent",
            patience_s=300,
            every_s=10,
        )
        assert "nvidia-dcgm-exporter-" in processes.call("cluster", "list")
        _idle_is_found(visitor)


def _measured_in_time(visitor: Visitor, began: float) -> None:
    def measured() -> dict[str, int]:
        return Counter(one["usage_source"].split()[0] for one in visitor.all("cards") if one["usage_source"])

    wait_until(lambda: len(measured()) >= 4, "cards are measured", patience_s=PROMISED_S, every_s=2)
    assert time.monotonic() - began < PROMISED_S
    wait_until(
        lambda: any(one["evidence"] == "exporter" for one in visitor.all(f"allocations?node={COUNT_ONLY}")),
        "the exporter says who is on a card",
        patience_s=PROMISED_S,
        every_s=2,
    )
    assert time.monotonic() - began < PROMISED_S
    findings = {(one["code"], one["node"]) for one in visitor.all("findings")}
    # The hot card is throttled for its heat: that is one fact.
    assert {("xid-hardware", "dgx-h100-02"), ("card-hot", "dgx-h100-02")} <= findings


def _idle_is_found(visitor: Visitor) -> None:
    wait_until(
        lambda: any(one["pod"].startswith("cad-stream") for one in visitor.all("idle")),
        "an idle pod is found",
        patience_s=480,
        every_s=5,
    )
    page = visitor.page("/allocations/idle")
    assert "cad-stream" in page
    assert "5 min" in page
    assert not any(one["pod"].startswith("pretrain-30b") for one in visitor.all("idle"))


@pytest.mark.sweep
@pytest.mark.timeout(600)
def test_a_fleet_that_is_too_large_to_be_read_directly_starts_and_says_so(tmp_path: Path) -> None:
    processes = Processes(tmp_path, "", GPUDASH_ENV_FILE="")
    with processes.ended():
        running = processes.manage("demo", "--port", str(free_port()), "--nodes", "1000")
        link = _printed(processes, r"http://\S+/sign-in/link/\S+")
        assert _printed(processes, r"No metrics: exporters run on [0-9]+ nodes").endswith("501 nodes")
        assert _printed(processes, "Writing 14 d of history in the background, for the first [0-9]+ nodes only")
        visitor = Visitor(link, processes.call("token", "create", "local").split()[-1])
        wait_until(
            lambda: "Direct reading is limited to 300 nodes" in processes.call("cluster", "list"),
            "the cluster says why nothing is measured",
            patience_s=120,
            every_s=3,
        )
        card = visitor.all("cards?node=dgx-h100-01")[0]
        assert "Direct reading is limited to 300 nodes" in visitor.page(f"/cards/{card['id']}")
        assert running.poll() is None
        # All but those without a card; cards are found after their nodes are listed.
        wait_until(lambda: len(visitor.all("nodes")) > 990, "nodes with cards are listed", patience_s=60, every_s=3)
        assert _printed(processes, "The history is complete: .*")
