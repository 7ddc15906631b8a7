"""A card that fails and passes again and again is a finding; one that was repaired is not."""

from __future__ import annotations

from datetime import timedelta

from inventory.models import Card, Cluster, Finding
from runtime.clock import database_now
from tests.factories import make_node
from tests.validations.policies.test_evaluate import passed
from validations.policies import flaps


def ran(card: Card, verdicts: str) -> None:
    """One run an hour, the last an hour ago: f failed, p passed, e errored."""
    for number, letter in enumerate(reversed(verdicts), start=1):
        verdict = {"f": "failed", "p": "passed", "e": "errored"}[letter]
        passed(card, timedelta(hours=number), verdict)


def test_only_what_fails_and_passes_repeatedly_is_told_with_counts(cluster: Cluster) -> None:
    make_node(cluster, "node-a", "nvidia", 5, loads=(0.0,))
    cards = list(Card.objects.order_by("index"))
    for card, verdicts in zip(cards, ("fpfp", "ffpp", "ffff", "pppp", "fepfep"), strict=True):
        ran(card, verdicts)
    now = database_now()
    found = flaps.find(now)[cluster.pk]
    assert [(one.card, one.failed, one.runs, one.times) for one in found] == [
        (cards[0].key, 2, 4, 2),
        (cards[4].key, 2, 4, 2),
    ]
    flaps.tell(now)
    flaps.tell(now)
    row = Finding.objects.get(code="validation-flaps", ended_at=None)
    assert row.text.startswith("Cards that failed and passed repeatedly within 14 days: 2. node-a card ")
    assert "2 of 4 runs failed." in row.text
    flaps.tell(now + timedelta(days=15))
    assert Finding.objects.get(code="validation-flaps").ended_at is not None
