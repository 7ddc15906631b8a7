"""Several processes at once: one wins, the others are told; limits hold. Threads on one database."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from django.db import IntegrityError, OperationalError, connection, transaction
from django.utils import timezone

from inventory.models import Cluster
from tests.factories import make_cluster, make_node
from tests.validations.recorded import wish
from validations.ids import new_id
from validations.lifecycle.claim import claim
from validations.models import Run
from validations.requests import Busy, KeyReused, request_run

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def prod() -> Cluster:
    row = make_cluster("prod")
    make_node(row, "gpu-1", "nvidia", 4, loads=(0.0,))
    make_node(row, "single", "nvidia", 1, loads=(0.0,))
    return row


def at_once(count: int, work: Callable[[int], Any]) -> list[Any]:
    """What each thread gave or raised. "locked" is what SQLite in memory says instead of letting a writer wait."""
    gate, found = threading.Barrier(count), [None] * count

    def one(number: int) -> None:
        gate.wait()
        for _ in range(2000):
            try:
                found[number] = work(number)
                break
            except OperationalError as error:
                found[number] = error  # type: ignore[call-overload]
                time.sleep(0.001)
            except Exception as error:  # noqa: BLE001 (each is looked at by the test)
                found[number] = error  # type: ignore[call-overload]
                break
        connection.close()

    threads = [threading.Thread(target=one, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def test_of_many_requests_for_one_place_one_wins_and_the_others_are_told_which(prod: Cluster) -> None:
    found = at_once(6, lambda _: request_run(wish(node="single"))[0])
    won = [one for one in found if isinstance(one, Run)]
    lost = [one for one in found if isinstance(one, Busy)]
    assert (len(won), len(lost)) == (1, 5)
    assert {error.run.pk for error in lost} == {won[0].pk}
    assert won[0].card_key == "GPU-single-0"


def test_one_key_makes_one_run_however_often_it_comes_at_once(prod: Cluster, django_user_model: Any) -> None:
    user = django_user_model.objects.create_user("olga")
    found = at_once(6, lambda _: request_run(wish(), user, "key-1"))
    assert len({run.pk for run, _ in found}) == 1
    assert sum(new for _, new in found) == 1


def test_a_run_is_claimed_once(prod: Cluster) -> None:
    run, _ = request_run(wish())
    assert sorted(at_once(6, lambda _: claim(Run.objects.get(pk=run.pk), timezone.now()))) == [False] * 5 + [True]


def test_the_limit_holds_when_all_are_claimed_at_once(prod: Cluster, settings: Any) -> None:
    settings.MAX_RUNS_PER_NODE = 2
    suites = ("cuda-vectoradd", "nvidia-smi", "cuda-nbody", "dcgm-diag", "cuda-devicequery")
    runs = [request_run(wish(suite=suite))[0] for suite in suites]
    found = at_once(len(runs), lambda number: claim(Run.objects.get(pk=runs[number].pk), timezone.now()))
    assert sum(found) == 2


def test_the_tables_themselves_refuse_two_active_runs_of_one_card(prod: Cluster) -> None:
    run, _ = request_run(wish(node="single"))
    again = {
        "cluster": prod,
        "node_name": "single",
        "suite": "nvidia-smi",
        "state_since": timezone.now(),
        "namespace": "x",
    }
    with pytest.raises(IntegrityError), transaction.atomic():
        Run.objects.create(card_key=run.card_key, **again)
    for wrong in ({"verdict": "passed"}, {"state": "ended"}, {"state": "lost"}, {"ended_at": timezone.now()}):
        with pytest.raises(IntegrityError), transaction.atomic():
            Run.objects.create(**again | wrong)


def test_a_key_with_another_request_is_refused(prod: Cluster, django_user_model: Any) -> None:
    user, other = (django_user_model.objects.create_user(name) for name in ("olga", "otto"))
    run, _ = request_run(wish(), user, "key-1")
    with pytest.raises(KeyReused, match=run.pk):
        request_run(wish(suite="nvidia-smi"), user, "key-1")
    other_run, new = request_run(wish(suite="nvidia-smi"), other, "key-1")
    assert new
    assert other_run.pk != run.pk


def test_ids_are_names_that_kubernetes_takes_and_do_not_come_twice() -> None:
    made = [new_id() for _ in range(200)]
    assert len(set(made)) == 200
    assert sorted(one[:9] for one in made) == [one[:9] for one in made]
    assert all(len(one) == 15 and one.isalnum() and one == one.lower() for one in made)
