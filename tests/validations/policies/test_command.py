"""`gpudash policy`: what the pages do, on the command line."""

from __future__ import annotations

import io
import json
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from inventory.models import Card, Cluster
from runtime.clock import database_now
from tests.factories import make_node
from tests.validations.policies.test_compare import NEW, OLD, passed
from validations.models import Policy, PolicyCard
from validations.policies import manage
from validations.policies.counts import count
from validations.policies.evaluate import evaluate
from validations.policies.manage import PolicyDraft


@pytest.fixture
def fleet(prod: Cluster) -> Cluster:
    make_node(prod, "node-0", "nvidia", 2, loads=(0.0, 0.0))
    return prod


def said(*words: str) -> str:
    out = io.StringIO()
    call_command("policy", *words, stdout=out)
    return out.getvalue()


def told(*words: str) -> Any:
    return json.loads(said(*words, "-o", "json"))


def test_a_policy_from_its_making_to_its_end(fleet: Cluster) -> None:
    assert told("list") == []
    window = ("--window", "0 22 * * *", "--window-hours", "8", "--max-age", "36h", "--time-zone", "Europe/Berlin")
    options = ("--option", "deadline_s=900", "--node-label", "team=a", "--void-on-reboot", "yes", "--max-per-pool", "2")
    made = told("create", "Nightly", "--suite", "cuda-vectoradd", *window, *options)
    row = Policy.objects.get()
    assert (row.options, row.node_labels, row.void_on_reboot) == ({"deadline_s": 900}, {"team": "a"}, True)
    assert (made["id"], made["window_minutes"], made["max_per_pool"], made["max_age_s"]) == (row.pk, 480, 2, 129_600)
    assert said("pause", "Nightly") == "Nightly: paused\n"
    assert "paused" in said("list")
    said("resume", "Nightly")
    assert not Policy.objects.get().paused
    assert said("pause-all") == "All policies are paused.\n"
    assert said("list").startswith("All policies are paused.\n")
    assert told("resume-all") == {"paused": False}
    assert told("remove", "Nightly") == {"removed": "Nightly"}
    assert not Policy.objects.exists()


def test_the_list_and_one_policy_have_their_counts(fleet: Cluster) -> None:
    said("create", "All", "--suite", "cuda-vectoradd")
    evaluate(Policy.objects.get(), database_now())
    count(database_now())
    cards = PolicyCard.objects.count()
    assert f"All  cuda-vectoradd  0 of {cards} valid" in said("list")
    shown = told("show", "All")
    assert (shown["cards"], shown["suite"]) == (cards, "cuda-vectoradd")
    assert len(shown["windows"]) == 1
    assert "cards due" in said("show", "All")


def test_the_preview_writes_nothing(fleet: Cluster) -> None:
    found = told("preview", "--suite", "cuda-vectoradd")
    assert found["cards"] == sum(found["states"].values()) > 0
    assert said("preview", "--suite", "cuda-vectoradd").startswith(f"Covers {found['cards']} cards. Would test")
    assert not Policy.objects.exists()
    assert not PolicyCard.objects.exists()


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("create", "x", "--suite", "nope"), "nope"),
        (("create", "x", "--suite", "cuda-vectoradd", "--cluster", "mars"), "There is no cluster 'mars'"),
        (("create", "x", "--suite", "cuda-vectoradd", "--node-label", "team"), "must be KEY=VALUE"),
        (("preview", "--suite", "cuda-vectoradd", "--max-age", "0d"), "Must be an integer from 3600"),
        (("preview", "--suite", "cuda-vectoradd", "--max-age", "long"), "must be days or hours"),
        (("create", "x", "--suite", "cuda-vectoradd", "--window-hours", "x"), "must be a number of hours"),
        (("show", "nothing"), "There is no policy 'nothing'. Policies: none."),
    ],
)
def test_what_is_wrong_is_named(fleet: Cluster, words: tuple[str, ...], text: str) -> None:
    with pytest.raises(CommandError, match=text):
        said(*words)


def test_two_drivers_are_compared(fleet: Cluster) -> None:
    evaluate(manage.create(PolicyDraft(name="a", suite="cuda-vectoradd")), database_now())
    first, second = Card.objects.filter(node_name="node-0").order_by("index")
    for card in (first, second):
        passed(card, OLD, timedelta(days=2))
    passed(first, NEW, timedelta(hours=5), bandwidth=50.0)
    passed(second, NEW, timedelta(hours=5), "failed")
    found = told("compare", "--a", OLD, "--b", NEW)
    assert found["lost"] == {"failed": 1, "slower": 1, "not_tested": 0}
    assert [(one["cluster"], one["lost"], one["measurement"]) for one in found["cards"]] == [
        ("prod", "failed", None),
        ("prod", "slower", "bandwidth"),
    ]
    text = said("compare", "--a", OLD, "--b", NEW, "--policy", "a")
    assert f"{OLD}: -" in text
    assert "0 of 0 groups have both sides" in text
    assert "lost: 1 failed, 1 slower, 0 not tested" in text
    assert "bandwidth 100 -> 50 GB/s, 100% slower" in text
    assert len(told("compare", "--a", OLD, "--b", NEW, "--limit", "1")["cards"]) == 1
    with pytest.raises(CommandError, match="Must be a day"):
        said("compare", "--by", "day", "--a", OLD, "--b", NEW)
    with pytest.raises(CommandError, match="no policy 'nope'"):
        said("compare", "--a", OLD, "--b", NEW, "--policy", "nope")


def test_a_policy_may_take_cards_out(fleet: Cluster) -> None:
    said("create", "All", "--suite", "cuda-vectoradd")
    assert said("take-out", "All", "on") == "All: takes failed cards out\n"
    assert told("show", "All")["takes_out"] is True
    assert said("take-out", "All", "off") == "All: takes no cards out\n"
