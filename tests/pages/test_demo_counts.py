"""The numbers that are links, over the fleet of the demo as it is watched: each says how many rows there are behind it."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.core.management import call_command

from accounts.roles import Role
from fleetsim import Fleet, serve
from inventory.queries import totals
from inventory.queries.free import free_cards
from tests.cast import make_user, signed_in
from tests.pages.reading import get
from tests.pages.test_counting_links import rows_behind, stats


@pytest.mark.usefixtures("committed_database")
@pytest.mark.django_db(transaction=True)
def test_the_demo_fleet_counts_alike(tmp_path: Path) -> None:
    with serve(Fleet(seed=1, now=1_780_000_000.0), live=False) as server:
        call_command("cluster", "add", "demo", "--kubeconfig", str(server.kubeconfig(tmp_path / "kubeconfig")))
        call_command("sync", "--once")
    viewer = signed_in(make_user("vera", Role.VIEWER))
    found = stats(get(viewer, "/").html)
    for title in ("Free cards", "Pending pods", "Findings"):
        assert found[title][1] == rows_behind(viewer, found[title][0]), title
    free, sums = free_cards(), totals.all_totals().cards_free
    assert free.named > 0
    if not sums.unknown_nodes:
        assert sums.value == free.named + free.unidentified
    (summary,) = totals.summaries()
    assert summary.nodes_gpu == rows_behind(viewer, "/nodes?cluster=demo")
    assert summary.nodes_not_ready == rows_behind(viewer, "/nodes?cluster=demo&ready=false&ready=unknown")
    assert summary.nodes_uncounted == 0
