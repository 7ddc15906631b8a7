"""A run has no way back: the states of its docstring, one writer, and every way that is not one of them is refused."""

from __future__ import annotations

import re
from datetime import timedelta
from itertools import product

import pytest
from django.utils import timezone

from tests.factories import make_cluster
from tests.validations.recorded import wish
from validations.lifecycle import moves
from validations.models import Run, RunStep, State
from validations.planning import plan
from validations.requests import request_run, row_of

ORDER = list(State)


@pytest.fixture
def run(db: None) -> Run:
    from tests.factories import make_node

    make_node(make_cluster("prod"), "gpu-1", "nvidia", 4, loads=(0.0,))
    return request_run(wish())[0]


def put_into(run: Run, state: State) -> None:
    if state is State.ENDED:
        assert moves.end(run, run.state, verdict="errored")
    elif state is not State.QUEUED:
        assert moves.move(run, state, timezone.now())


def test_the_docstring_draws_the_states_in_their_order() -> None:
    (drawn,) = re.findall(r"^.*queued → .*$", Run.__doc__ or "", re.MULTILINE)
    assert [one.strip() for one in drawn.split("→")] == [state.value for state in ORDER]
    for state in ORDER:
        assert re.search(rf"^ +{state.value} +\S", State.__doc__ or "", re.MULTILINE)


def test_it_begins_in_the_queue_with_its_step(run: Run) -> None:
    assert run.state == State.QUEUED
    assert list(run.steps.values_list("state", "entered_at")) == [("queued", run.state_since)]


@pytest.mark.parametrize(("old", "new"), [*product(ORDER, ORDER[:-1])])
def test_it_moves_forward_and_never_back(run: Run, old: State, new: State) -> None:
    put_into(run, old)
    forward = ORDER.index(new) > ORDER.index(old)
    assert moves.move(run, new, timezone.now()) is forward
    stored = Run.objects.get()
    assert stored.state == run.state == (new if forward else old)
    assert RunStep.objects.filter(run=run, state=new).exists() is (forward or new in (old, State.QUEUED))


@pytest.mark.parametrize("old", ORDER)
def test_it_ends_from_anywhere_once(run: Run, old: State) -> None:
    put_into(run, old)
    assert moves.end(run, old, verdict="passed") is (old is not State.ENDED)
    assert Run.objects.get().verdict == ("errored" if old is State.ENDED else "passed")


def test_who_has_old_knowledge_moves_nothing(run: Run) -> None:
    old = Run.objects.get()
    put_into(run, State.RUNNING)
    assert moves.move(old, State.CREATING, timezone.now()) is False
    assert moves.end(old, State.QUEUED, verdict="errored") is False
    assert Run.objects.get().state == State.RUNNING


def test_a_run_whose_log_has_grown_meanwhile_is_not_ended_on_what_was_read_before(run: Run) -> None:
    put_into(run, State.COLLECTING)
    Run.objects.update(log_stored=10)
    assert moves.end(run, State.COLLECTING, verdict="passed") is False


def test_a_state_keeps_nothing_that_was_said_of_the_one_before(run: Run) -> None:
    put_into(run, State.PENDING)
    moves.note(
        run, pending_reason="Unschedulable", pending_message="0/3 nodes are available", trouble_since=timezone.now()
    )
    moves.move(run, State.RUNNING, timezone.now())
    stored = Run.objects.get()
    assert (stored.pending_reason, stored.pending_message, stored.trouble_since) == ("", "", None)


def test_another_writer_of_states_is_found() -> None:
    """The guard of these tests (conftest) sees who writes: it is asked as the product would be."""
    product_code = compile("rows.update(state='running')", "validations/lifecycle/elsewhere.py", "exec")
    with pytest.raises(AssertionError, match=r"writes Run\.state"):
        exec(product_code, {"rows": Run.objects.none()})


def test_one_that_is_written_down_later_has_its_own_times(run: Run) -> None:
    asked = run.created_at - timedelta(days=3)
    ended = asked + timedelta(minutes=4)
    row = row_of(plan(wish(suite="cuda-nbody"), asked), wish(suite="cuda-nbody"), None, asked)
    moves.begin(row, asked)
    assert moves.move(row, State.RUNNING, asked + timedelta(minutes=1))
    assert moves.end(row, State.RUNNING, ended, verdict="errored")
    stored = Run.objects.get(pk=row.pk)
    assert (stored.created_at, stored.state_since, stored.ended_at) == (asked, ended, ended)
    assert list(stored.steps.order_by("id").values_list("entered_at", flat=True)) == [
        asked,
        asked + timedelta(minutes=1),
        ended,
    ]
    assert row.pk < run.pk  # ids sort by time
