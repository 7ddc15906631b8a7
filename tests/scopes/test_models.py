"""No table of what is mirrored or validated is read without asking what is in scope."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.db.models import Model

from inventory.models import Allocation, Cluster, UsageSource
from runtime.scope import EVERYTHING, NOTHING, Scope, current, seeing
from runtime.scoped import ScopedManager
from tests.packages import sources
from tests.scopes.world import ELSEWHERE, MINE, OTHERS, SEEN, UNSEEN, World

#: What belongs to no cluster, or is told to nobody: rows by which processes work together.
OF_THE_PROCESSES = {
    "DirtyNode",
    "Heartbeat",
    "Worker",
    "Message",
    "ProcessReport",
    "ScheduleLease",
    "Installation",
    "PolicySwitch",
    "Price",
    "QuarantineSwitch",
}
ROOT = Path(__file__).parents[2]
APPS = ("runtime", "inventory", "validations", "quarantine")
#: Where what is counted must not depend on who asks (`runtime.scope.counting`), and nothing else is done with it.
COUNTED = {
    "inventory/placement/moves/read.py",
    "inventory/charges/costs.py",
    "validations/certificate/issue.py",
    "inventory/queries/pod_usage.py",
    "validations/targets.py",
}
#: Reads past the managers: those who write, and the scopes themselves.
PAST_MANAGERS = {
    "inventory/clusters.py",
    "inventory/mirror/store.py",
    "inventory/retention.py",
    "runtime/leases/lease.py",
    "runtime/leases/renew.py",
    "validations/models/campaign.py",
}


def models() -> list[type[Model]]:
    return [one for label in APPS for one in apps.get_app_config(label).get_models()]


def test_every_table_says_what_is_seen_of_it() -> None:
    scoped = {one.__name__ for one in models() if isinstance(one._default_manager, ScopedManager)}
    assert {one.__name__ for one in models()} - scoped == OF_THE_PROCESSES
    assert all(hasattr(one, "seen_by") for one in models() if one.__name__ in scoped)


@pytest.mark.django_db
def test_of_nothing_no_table_has_rows(world: World) -> None:
    with seeing(NOTHING):
        found = {one.__name__ for one in models() if one._default_manager.exists()}
    assert found - OF_THE_PROCESSES == set()


def _marks(row: Model) -> str:
    return " ".join(str(getattr(row, field.attname)) for field in row._meta.concrete_fields)


@pytest.mark.django_db
def test_texts_that_may_name_pods_are_empty_for_who_does_not_see_them(world: World) -> None:
    pk = Cluster.objects.get(name=SEEN).pk
    with seeing(Scope(namespaces=frozenset({(pk, MINE)}))):
        assert [(one.reason, one.problems) for one in UsageSource.objects.all()] == [("", [])]
    with seeing(Scope(frozenset({pk}))):
        assert OTHERS in UsageSource.objects.get().reason
        assert UsageSource.objects.get().problems


@pytest.mark.django_db
def test_of_each_table_only_rows_without_a_foreign_name_are_seen(world: World) -> None:
    pk = Cluster.objects.get(name=SEEN).pk
    unseen = Cluster.objects.get(name=UNSEEN).pk
    cases = {Scope(frozenset({pk})): (ELSEWHERE,), Scope(namespaces=frozenset({(pk, MINE)})): (ELSEWHERE, OTHERS)}
    wrong, seen = [], set()
    for scope, hidden in cases.items():
        with seeing(scope):
            for model in models():
                for row in model._default_manager.all():
                    seen.add(model.__name__)
                    if model.__name__ not in {*OF_THE_PROCESSES, "CardUsage"} and any(
                        one in _marks(row) for one in hidden
                    ):
                        wrong.append((model.__name__, _marks(row)))
                    run = getattr(row, "run_id", None)
                    if getattr(row, "cluster_id", pk) == unseen or (run and ELSEWHERE in _marks(row.run)):  # type: ignore[attr-defined]
                        wrong.append((model.__name__, "of another cluster"))
                    if run and OTHERS in hidden and model.__name__ != "LastResult" and OTHERS in row.run.namespace:  # type: ignore[attr-defined]
                        wrong.append((model.__name__, "of another namespace's run"))
    assert wrong == []
    assert {"Allocation", "Card", "Finding", "HistoryDay", "Run", "RunStep", "Measurement", "LogChunk"} <= seen


@pytest.mark.django_db
def test_what_is_reached_from_a_card_is_in_scope_too(world: World) -> None:
    pk = Cluster.objects.get(name=SEEN).pk
    shared = Allocation.objects.filter(namespace=MINE, ended_at=None).exclude(card=None)
    cards = [one.card for one in shared if one.card is not None]
    with seeing(Scope(namespaces=frozenset({(pk, MINE)}))):
        assert {held.namespace for card in cards for held in card.allocations.all()} == {MINE}
    assert len({held.namespace for card in cards for held in card.allocations.all()}) == 2


def _sources() -> list[tuple[str, str]]:
    return [(str(path.relative_to(ROOT)), path.read_text()) for path in sources()]


def test_nobody_reads_past_the_managers() -> None:
    """A queryset that is made of a model, a base manager or SQL asks nobody what is in scope."""
    past = re.compile(r"\b(_base_manager|_default_manager)\b")
    named = "|".join(one.__name__ for one in models())
    made = re.compile(
        rf"\b\w*(QuerySet|Holds|RunsThatSayWhy|ById)\(({named})\)(?!\.(visible_to\(current|filter\(current))"
    )
    found = {path for path, text in _sources() if past.search(text) and "accounts" not in path}
    assert found - PAST_MANAGERS == set()
    assert [path for path, text in _sources() if made.search(text)] == []
    assert {path for path, text in _sources() if "counting()" in text} - {"runtime/scope.py"} == COUNTED
    sql = {path for path, text in _sources() if re.search(r"\bRawSQL\(|\.raw\(", text)}
    assert sql == set()


def test_a_scope_is_in_force_for_its_block_alone() -> None:
    with seeing(NOTHING):
        with seeing(Scope(frozenset({1}))):
            assert current().clusters == {1}
        assert current() == NOTHING
    assert current() == EVERYTHING


#: (one, other, what both see), each as (clusters, namespaces).
_ALL: Any = (None, ())
MEETINGS: list[tuple[Any, Any, Any]] = [
    (_ALL, ((1,), ()), ((1,), ())),
    (((1, 2), ()), ((2, 3), ()), ((2,), ())),
    (((1,), ()), ((), ((1, "a"), (2, "a"))), ((), ((1, "a"),))),
    (((1,), ()), ((), ((0, "a"),)), ((), ((1, "a"),))),
    (((), ((0, "a"),)), ((), ((1, "a"), (1, "b"))), ((), ((1, "a"),))),
    (((), ((0, "a"),)), ((), ((0, "a"), (0, "b"))), ((), ((0, "a"),))),
    (((), ((1, "a"),)), ((), ((2, "a"),)), ((), ())),
    (((1,), ((2, "a"),)), ((2,), ((1, "b"),)), ((), ((1, "b"), (2, "a")))),
]


def _scope(given: Any) -> Scope:
    clusters, namespaces = given
    return Scope(None if clusters is None else frozenset(clusters), frozenset(namespaces))


@pytest.mark.parametrize(("one", "other", "both"), MEETINGS)
def test_what_two_scopes_see_both(one: Any, other: Any, both: Any) -> None:
    assert _scope(one).meet(_scope(other)) == _scope(other).meet(_scope(one)) == _scope(both)
