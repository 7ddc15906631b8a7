"""How much memory each holder uses: told where it is certain, and never twice."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.db.models.functions import Now
from django.test import Client
from django.test.utils import CaptureQueriesContext
from hypothesis import given
from hypothesis import strategies as st

from inventory.models import Allocation, Card, CardUsage, Cluster
from inventory.queries.measured import KEPT_SINCE, NOT_COLLECTED, Usage, with_usage
from inventory.queries.pod_usage import Note, on_card, with_holders_usage, with_pod_usage
from inventory.queries.rows import with_holders
from tests.factories import GIB, make_cluster, make_node
from tests.factories.usage import measure, source_of

MOMENT = datetime(2026, 11, 22, 12, tzinfo=UTC)


def held(number: int, pod: str = "a", container: str = "main", uid: str = "") -> Allocation:
    return Allocation(id=number, namespace="team", pod=pod, pod_uid=uid or f"uid-{pod}", container=container)


def says(pod: str = "a", container: str = "main", memory: int | None = 2 * GIB, **more: Any) -> dict[str, Any]:
    entry = {"namespace": "team", "pod": pod, "container": container, "uid": "", "memory": memory, "of_pod": False}
    return entry | {"format": "hami-monitor"} | more


def usage(*holders: dict[str, Any], used: int | None = 9 * GIB, **more: Any) -> Usage:
    return Usage(
        memory_used_bytes=used, measured_at=MOMENT, usage_source="dcgm-exporter 4.5", holders=list(holders), more=more
    )


@pytest.mark.parametrize(
    ("holders", "found", "loose", "wanted"),
    [
        # Alone: the card's figure is the pod's.
        ([held(1)], usage(), 0, [9 * GIB]),
        ([held(1)], usage(says(memory=None)), 0, [9 * GIB]),
        # Counted by processes: whoever else is there.
        ([held(1)], usage(says()), 0, [2 * GIB]),
        ([held(1), held(2, "b")], usage(says(), says("b", memory=0)), 3, [2 * GIB, 0]),
        ([held(1), held(2, "b")], usage(says()), 0, [2 * GIB, Note.SHARED]),
        ([held(1), held(2, container="side")], usage(says(), says(container="side", memory=1)), 0, [2 * GIB, 1]),
        # Others may be on it.
        ([held(1), held(2, "b")], usage(), 0, [Note.SHARED, Note.SHARED]),
        ([held(1)], usage(), 1, [Note.MAYBE_SHARED]),
        ([held(1)], usage(holders_hidden=True), 0, [Note.SHARED]),
        ([held(1)], usage(says("b", memory=None)), 0, [Note.OTHER_NAMED]),
        # A pod of the same name, of before.
        ([held(1, uid="new")], usage(says(uid="old")), 0, [Note.OTHER_NAMED]),
        ([held(1, uid="new")], usage(says(uid="new")), 0, [2 * GIB]),
        # The sum of a pod is told once, or not at all.
        ([held(1)], usage(says(of_pod=True)), 0, [2 * GIB]),
        (
            [held(1), held(2, container="side")],
            usage(says(of_pod=True), says(container="side", of_pod=True)),
            0,
            [Note.OF_POD, Note.OF_POD],
        ),
        ([held(1), held(2, container="side")], usage(), 0, [Note.OF_POD, Note.OF_POD]),
        # Two resources of one container.
        ([held(1), held(2)], usage(says()), 0, [Note.OF_POD, Note.OF_POD]),
        # Names that are kept from before have no figure of now.
        ([held(1), held(2, "b")], usage(says(), **{KEPT_SINCE: 1.0}), 0, [Note.SHARED, Note.SHARED]),
        # Nothing is known.
        ([held(1)], usage(used=None), 0, [Note.NOT_COLLECTED]),
        ([held(1)], NOT_COLLECTED, 0, [Note.NOT_COLLECTED]),
        ([held(1)], Usage(lost_at=MOMENT, last={"memory_used_bytes": 5}), 0, [Note.SILENT]),
    ],
)
def test_whose_figure_it_is(holders: list[Allocation], found: Usage, loose: int, wanted: list[Any]) -> None:
    made = on_card(holders, found, loose)
    assert [made[one.pk].note or made[one.pk].memory_used_bytes for one in holders] == wanted
    for one in made.values():
        assert (one.memory_used_bytes is None) == bool(one.note)
        assert (one.measured_at is None) == bool(one.note)


names = st.sampled_from(["a", "b"])
entries = st.builds(
    says,
    names,
    st.sampled_from(["main", "side", ""]),
    st.one_of(st.none(), st.integers(0, 100)),
    of_pod=st.booleans(),
    uid=st.sampled_from(["", "uid-a", "uid-b", "old"]),
)
pods = st.lists(st.tuples(names, st.sampled_from(["main", "side"])), min_size=1, max_size=4)


@given(pods, st.lists(entries, max_size=4), st.integers(0, 2))
def test_no_figure_is_told_of_two_holders(
    pairs: list[tuple[str, str]], found: list[dict[str, Any]], loose: int
) -> None:
    """As the collector keeps them: one entry a container."""
    unique = list({(one["namespace"], one["pod"], one["container"]): one for one in found}.values())
    holders = [held(number, pod, container) for number, (pod, container) in enumerate(pairs)]
    made = on_card(holders, usage(*unique, used=1000), loose)
    told = [one for one in made.values() if one.memory_used_bytes is not None]
    whole = [one for one in told if one.whole_card]
    assert not whole or (len(told) == 1 and len({one.pod for one in holders}) == 1 and not loose)
    sums = sum(one["memory"] or 0 for one in unique)
    assert whole or sum(one.memory_used_bytes or 0 for one in told) <= sums


@pytest.mark.django_db
class TestRows:
    def test_a_pod_that_is_alone_has_its_cards_figure(self, cluster: Cluster) -> None:
        make_node(cluster, "gpu-1", "nvidia", 1, loads=(1.0,))
        measure(Card.objects.get())
        [row] = with_pod_usage(Allocation.objects.all())
        assert row.used.memory_used_bytes == 9 * GIB  # type: ignore[attr-defined]
        assert row.used.whole_card  # type: ignore[attr-defined]

    def test_where_the_card_is_not_known_nothing_is(self, cluster: Cluster) -> None:
        make_node(cluster, "gpu-1", "nvidia-count", 2)
        for card in Card.objects.all():
            measure(card)
        rows = with_pod_usage(Allocation.objects.all())
        assert rows
        assert {row.used.note for row in rows} == {Note.CARD_UNKNOWN}  # type: ignore[attr-defined]

    def test_old_rounds_lost_cards_and_ended_holds_have_none(self, cluster: Cluster) -> None:
        make_node(cluster, "gpu-1", "nvidia", 1, loads=(1.0,))
        row = measure(Card.objects.get())

        def note() -> str:
            [one] = with_pod_usage(Allocation.objects.all())
            assert one.used.memory_used_bytes is None  # type: ignore[attr-defined]
            return str(one.used.note)  # type: ignore[attr-defined]

        source_of(cluster, timedelta(minutes=6))
        assert note() == Note.SILENT
        source_of(cluster)
        CardUsage.objects.filter(pk=row.pk).update(lost_at=Now())
        assert note() == Note.SILENT
        Allocation.objects.update(ended_at=Now())
        assert note() == Note.ENDED

    def test_rest_csv_and_pages_say_the_same(self, cluster: Cluster, api: Client, viewer: Client) -> None:
        make_node(cluster, "gpu-1", "nvidia", 1, loads=(1.0,))
        make_node(cluster, "gpu-2", "gpushare", 1, loads=(0.5,))
        own, shared = Card.objects.get(node_name="gpu-1"), Card.objects.get(node_name="gpu-2")
        assert shared.allocations_count > 1
        measure(own)
        measure(shared)
        found = {one["node"]: one for one in api.get("/api/v1/allocations").json()["results"]}
        assert (found["gpu-1"]["memory_used_bytes"], found["gpu-1"]["usage_note"]) == (9 * GIB, None)
        assert found["gpu-1"]["measured_at"]
        assert found["gpu-1"]["usage_source"] == "dcgm-exporter"
        assert (found["gpu-2"]["memory_used_bytes"], found["gpu-2"]["usage_note"]) == (None, "shared")
        nested = api.get("/api/v1/nodes/prod/gpu-1").json()["cards"][0]["allocations"][0]
        assert nested["memory_used_bytes"] == 9 * GIB
        csv = b"".join(viewer.get("/allocations?format=csv").streaming_content).decode()  # type: ignore[attr-defined]
        assert "memory_used_bytes,usage_note,measured_at,usage_source" in csv
        assert ",shared,," in csv
        page = viewer.get("/allocations").content.decode()
        assert "9 GiB" in page
        assert "other pod" in page
        card = viewer.get(f"/cards/{own.pk}").content.decode()
        assert "9 GiB used" in card
        assert "no other pod on the card" in card
        assert "other pod" in viewer.get(f"/cards/{shared.pk}").content.decode()

    def test_the_node_names_who_uses_what_of_a_shared_card(self, cluster: Cluster, viewer: Client) -> None:
        make_node(cluster, "gpu-2", "gpushare", 1, loads=(0.5,))
        one = Allocation.objects.order_by("pk")[0]
        measure(Card.objects.get(), holders=[says(one.pod, one.container) | {"namespace": one.namespace}])
        page = viewer.get("/allocations?node=gpu-2").content.decode()
        assert ">2 GiB<" in page
        assert "reported for this container by hami-monitor" in page

    def test_it_costs_the_same_at_any_size(self, cluster: Cluster) -> None:
        def cost(name: str, nodes: int) -> tuple[int, int]:
            own = make_cluster(name)
            for number in range(nodes):
                make_node(own, f"gpu-{number}", "gpushare", 2, loads=(0.5,))
            for card in Card.objects.filter(cluster=own):
                measure(card)
            with CaptureQueriesContext(connection) as rows:
                with_pod_usage(Allocation.objects.filter(cluster=own))
            with CaptureQueriesContext(connection) as cards:
                with_holders_usage(with_usage(with_holders(Card.objects.filter(cluster=own))))
            return len(rows), len(cards)

        assert cost("small", 1) == cost("large", 6)
