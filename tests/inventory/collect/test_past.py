"""What a real Prometheus still knows of cards: by step, in the units and with the doubts of the exporter's own reader."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client as Browser

from inventory.collect import past_answers, sources
from inventory.collect.past import Steps, ask_past
from inventory.collect.prometheus import Prometheus, PrometheusError
from inventory.history import asked, packed
from inventory.models import Card, Cluster, HistoryAnswer, Subject, UsageSource
from runtime.models import Message
from tests.factories import GIB, make_node
from tests.factories.history import put_minute
from tests.prometheus import prometheus
from tests.services import Missing, or_skip

#: A whole hour of the past, and its unix seconds.
HOUR = datetime.now(UTC).replace(minute=0, second=0, microsecond=0) - timedelta(hours=30)
AT = int(HOUR.timestamp())
ONE, TWO = "GPU-0a000000-0000-0000-0000-000000000001", "GPU-0a000000-0000-0000-0000-000000000002"
EXPORTERS = ["dcgm-exporter", "hami-monitor"]
#: 16 TiB: what a counter below 0 looks like.
SENTINEL = 17_592_186_044_415


def page() -> str:
    """Three hours of two cards, a sample a minute.

    The first holds 10 GiB for half of each hour and 20 GiB in the other, works at 40 %, and changes its pod; of the second hour
    it has one sentinel, and of the third nothing until its middle. The second card holds 1 GiB. A third one, of another cluster,
    has the same UUID as the first.
    """
    used, work = [], []
    for minute in range(180):
        at = AT + minute * 60
        mib = 10_240 if minute % 60 < 30 else 20_480
        labels = f'UUID="{ONE}",gpu="0",Hostname="gpu-1",modelName="T",cluster="prod",pod="train-{minute // 45}"'
        if not 120 <= minute < 150:
            used.append(f"DCGM_FI_DEV_FB_USED{{{labels}}} {SENTINEL if minute == 100 else mib} {at}")
            work.append(f"DCGM_FI_DEV_GPU_UTIL{{{labels}}} 40 {at}")
        used.append(f'DCGM_FI_DEV_FB_USED{{UUID="{TWO}",gpu="1",Hostname="gpu-1",cluster="prod"}} 1024 {at}')
        used.append(f'DCGM_FI_DEV_FB_USED{{UUID="{ONE}",gpu="0",Hostname="x",cluster="other"}} 70000 {at}')
    now = int(datetime.now(UTC).timestamp())
    for minute in reversed(range(10)):  # of now, by which the names are found
        at = now - minute * 60
        used.append(f'DCGM_FI_DEV_FB_USED{{UUID="{ONE}",gpu="0",Hostname="gpu-1",cluster="prod"}} 5120 {at}')
        work.append(f'DCGM_FI_DEV_GPU_UTIL{{UUID="{ONE}",gpu="0",Hostname="gpu-1",cluster="prod"}} 80 {at}')
    lines = [f"# TYPE {name} gauge\n" + "\n".join(rows) for name, rows in
             (("DCGM_FI_DEV_FB_USED", used), ("DCGM_FI_DEV_GPU_UTIL", work))]  # fmt: skip
    return "\n".join([*lines, "# EOF", ""])


@pytest.fixture(scope="module")
def server() -> Iterator[Any]:
    try:
        with prometheus({}, past=page()) as running:
            yield running
    except Missing as why:
        or_skip(why)


@pytest.fixture
def client(server: Any) -> Iterator[Prometheus]:
    made = Prometheus(server.url)
    yield made
    made.close()


def ask(client: Prometheus, uuids: list[str], first: int = AT, step_s: int = 1800, count: int = 6) -> dict[str, Any]:
    sizes = {uuid.removeprefix("GPU-"): 80 * GIB for uuid in uuids}
    return ask_past(client, 'cluster="prod"', uuids, Steps(first, step_s, count), sizes, EXPORTERS)


def test_each_step_is_the_mean_of_what_was_in_it(client: Prometheus) -> None:
    told = ask(client, [ONE], AT, 3600, 1)
    assert told[packed.USED] == [15_360]
    assert told[packed.USED_MOST] == [20_480]
    assert told[packed.UTILIZATION] == told[packed.ACTIVITY] == [400]


def test_a_sentinel_is_not_in_it(client: Prometheus) -> None:
    told = ask(client, [ONE], AT + 5880, 60, 4)
    assert told[packed.USED] == [20_480, 20_480, None, 20_480]


def test_a_time_without_samples_is_a_gap(client: Prometheus) -> None:
    told = ask(client, [ONE], AT + 7200, 600, 6)
    assert told[packed.USED][1:4] == [None, None, 20_480]


def test_a_pod_that_changes_is_no_other_card(client: Prometheus) -> None:
    told = ask(client, [ONE], AT + 1800, 1800, 1)
    assert told[packed.USED] == told[packed.USED_MOST] == [20_480]


def test_another_clusters_card_is_not_in_it(client: Prometheus) -> None:
    assert max(ask(client, [ONE])[packed.USED_MOST][:2]) <= 20_480


def test_cards_of_a_node_are_summed_with_how_many_are_known(client: Prometheus) -> None:
    told = ask(client, [ONE, TWO], AT, 3600, 3)
    assert told[packed.USED][0] == 15_360 + 1024
    assert told[packed.MEASURED] == told[packed.CARDS] == [2, 2, 2]
    assert ask(client, [ONE, TWO], AT + 8100, 600, 1)[packed.MEASURED] == [1]
    assert ask(client, [ONE, TWO], AT + 8100, 600, 1)[packed.USED] == [1024]


@pytest.mark.parametrize("uuids", [[], ['x"} or vector(1)'], ["no"], [f"GPU-0000000{n:03}" for n in range(40)]])
def test_what_is_no_uuid_is_not_asked_for(client: Prometheus, uuids: list[str]) -> None:
    assert ask(client, uuids) == {}


@pytest.fixture
def card(cluster: Cluster, server: Any) -> Card:
    """The first card, in a cluster that this Prometheus scrapes."""
    make_node(cluster, "gpu-1", "nvidia", 1)
    sources.set_prometheus(cluster, server.url, matchers='cluster="prod"')
    UsageSource.objects.update(state="reading", formats=[{"format": "dcgm-exporter"}])
    Card.objects.update(uuid=ONE)
    return Card.objects.get()


def test_a_chart_shows_its_own_until_prometheus_has_told(
    viewer: Browser, card: Card, django_capture_on_commit_callbacks: Any
) -> None:
    put_minute(card.cluster, datetime.now(UTC).replace(second=0, microsecond=0), Subject.CARD, str(card.pk), used=77)
    path = f"/api/v1/cards/{card.pk}/history?window=7d"
    with django_capture_on_commit_callbacks(execute=True):
        first = viewer.get(path).json()
    assert (first["source"], first["asking"]) == ("gpudash", True)
    assert [used for used in first["columns"]["memory_used_bytes"] if used is not None] == [77 << 20]
    assert Message.objects.filter(key__startswith=asked.TASK).count() == 1
    assert past_answers.answer(HistoryAnswer.objects.get().pk)
    told = viewer.get(path).json()
    assert (told["source"], told["asking"], told["reason"]) == ("prometheus", False, None)
    begin = datetime.fromisoformat(told["begins_at"])
    place = int((HOUR - begin).total_seconds()) // 1800
    used = told["columns"]["memory_used_bytes"]
    assert used[place : place + 2] == [10 * GIB, 20 * GIB]
    assert used[place - 1] is None
    assert max(value for value in used if value is not None) <= 20 * GIB
    assert told["columns"]["utilization_ratio"][place] == 0.4


def test_of_a_step_that_both_know_it_is_prometheus_that_is_believed(viewer: Browser, card: Card) -> None:
    put_minute(card.cluster, datetime.now(UTC).replace(second=0, microsecond=0), Subject.CARD, str(card.pk), used=77)
    row = HistoryAnswer.objects.create(
        cluster=card.cluster, subject=Subject.CARD, key=str(card.pk), window="1h", wanted_at=datetime.now(UTC)
    )
    past_answers.answer(row.pk)
    used = viewer.get(f"/api/v1/cards/{card.pk}/history?window=1h").json()["columns"]["memory_used_bytes"]
    assert {value for value in used[-5:] if value is not None} == {5 * GIB}


def test_a_prometheus_that_does_not_answer_is_named_and_delays_nothing(viewer: Browser, card: Card) -> None:
    UsageSource.objects.update(address="http://127.0.0.1:1")
    path = f"/api/v1/cards/{card.pk}/history?window=7d"
    viewer.get(path)
    assert not past_answers.answer(HistoryAnswer.objects.get().pk)
    told = viewer.get(path).json()
    assert (told["source"], told["asking"]) == ("gpudash", False)
    assert "cannot reach" in told["reason"]


def test_only_so_many_are_asked_for_at_once(viewer: Browser, card: Card, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asked, "MOST_WAITING", 2)
    for window in ("7d", "30d", "90d"):
        viewer.get(f"/api/v1/cards/{card.pk}/history?window={window}")
    assert HistoryAnswer.objects.count() == 2


def test_sums_over_more_than_a_node_are_never_asked_for(viewer: Browser, card: Card) -> None:
    assert viewer.get("/api/v1/clusters/prod/history").json()["source"] == "gpudash"
    assert not HistoryAnswer.objects.exists()


def test_slices_are_not_asked_for(card: Card) -> None:
    Card.objects.update(profile="1g.10gb")
    row = HistoryAnswer.objects.create(
        cluster=card.cluster, subject=Subject.NODE, key="gpu-1", window="7d", wanted_at=datetime.now(UTC)
    )
    assert past_answers.answer(row.pk)
    row.refresh_from_db()
    assert row.data is not None
    assert packed.unpack_columns(row.data, 336) == {}


def test_what_nobody_wants_any_more_is_forgotten(card: Card) -> None:
    for age in (1, 30):
        HistoryAnswer.objects.create(
            cluster=card.cluster, subject=Subject.NODE, key=f"n{age}", window="7d",
            wanted_at=datetime.now(UTC) - timedelta(hours=age),
        )  # fmt: skip
    assert asked.forget(datetime.now(UTC)) == 1


@pytest.mark.parametrize(
    "body", [b"{}", b"[1]", b'{"status":"success","data":{"resultType":"vector","result":[]}}', b'{"status":"error"}']
)
def test_an_answer_that_is_none_is_refused(body: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    client = Prometheus("http://127.0.0.1:1")
    series = b'{"metric":{"__name__":"DCGM_FI_DEV_FB_USED"},"value":[1,"1"]}'
    counted = b'{"status":"success","data":{"resultType":"vector","result":[' + series + b"]}}"
    monkeypatch.setattr(client, "query", lambda _expression: counted)
    monkeypatch.setattr(client, "query_range", lambda *_: body)
    with pytest.raises(PrometheusError, match="no matrix"):
        ask(client, [ONE])
