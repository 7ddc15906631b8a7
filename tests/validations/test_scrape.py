"""The scrape of the validations: the same labels as that of the inventory, each series once, moments to the microsecond."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from api.inventory import metrics as of_inventory
from api.validations import metrics
from inventory.models import Card, Cluster
from runtime.clock import UnixTime
from tests.factories import make_cluster, make_node
from tests.pages.validations.rows import make_run
from validations.models import Run

pytestmark = pytest.mark.django_db
CARD_LABELS = ("cluster", "node", "card", "uuid", "model", "stack")


def places(text: str, name: str) -> list[tuple[str, ...]]:
    """The labels of a card of each series of a metric, as Prometheus' own parser reads them."""
    return [
        tuple(sample.labels[label] for label in CARD_LABELS)
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name == name
    ]


@pytest.fixture
def prod() -> Cluster:
    return make_cluster("prod")


@pytest.mark.parametrize("tested", [(0, 1), (1,), (0,)])
def test_of_two_cards_of_one_index_each_is_the_same_series_as_in_the_inventory(
    prod: Cluster, tested: tuple[int, ...]
) -> None:
    make_node(prod, "one", "gpushare", 2)
    Card.objects.update(index=0, uuid="")
    cards = list(Card.objects.order_by("id"))
    for number in tested:
        make_run(prod, node="one", card=cards[number])
    inventory = places("".join(of_inventory.families()), "gpudash_card_memory_bytes")
    assert len(set(inventory)) == 2
    own = places("".join(metrics.families()), "gpudash_validation_run_last_verdict")
    assert own == [inventory[number] for number in tested]


def test_moments_are_unix_time_and_what_never_was_is_absent(prod: Cluster) -> None:
    make_node(prod, "one", "nvidia", 2)
    good, bad = Card.objects.order_by("id")
    passed = make_run(prod, node="one", card=good)
    failed = make_run(prod, node="one", card=bad, verdict="failed")
    assert passed.ended_at
    assert failed.ended_at
    found = {
        (sample.name.removeprefix("gpudash_validation_run_last_"), sample.labels["uuid"]): sample.value
        for family in text_string_to_metric_families("".join(metrics.families()))
        for sample in family.samples
        if sample.name.endswith("_timestamp_seconds")
    }
    assert found == {
        ("end_timestamp_seconds", good.uuid): passed.ended_at.timestamp(),
        ("passed_timestamp_seconds", good.uuid): passed.ended_at.timestamp(),
        ("validated_timestamp_seconds", good.uuid): passed.ended_at.timestamp(),
        ("end_timestamp_seconds", bad.uuid): failed.ended_at.timestamp(),
    }


@given(
    microseconds=st.integers(0, 4_000_000_000_000_000) | st.sampled_from([0, 1, 10**15, 10**15 + 1, 999_999, 1_291_724])
)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_database_counts_seconds_as_python_does(prod: Cluster, microseconds: int) -> None:
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=microseconds)
    run = Run.objects.first() or make_run(prod)
    Run.objects.filter(pk=run.pk).update(ended_at=moment)
    assert Run.objects.values_list(UnixTime("ended_at"), flat=True).get() == moment.timestamp()
