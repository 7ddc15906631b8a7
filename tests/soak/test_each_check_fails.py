"""No check of the soak is one that cannot fail: each is given an installation in which just that is wrong, and finds it.

`PLANTED` has one entry for each check; a check that is written and not entered here fails the last test.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.factories import make_cluster, make_node
from tests.soak import checks, notified, out_of_service, policies, report, settled
from tests.soak.checks import Check
from tests.soak.exporters import Played
from tests.soak.faults import Fault
from tests.soak.parts import Death
from tests.soak.policies import Seen
from tests.soak.test_checks import RUN, asked, leaking, sample

SOAK = Path(__file__).parent
NOW = 0.0


def _level(figure: str, **usage: float) -> Check:
    """One process uses more of this from second to second."""
    rows = [sample(float(t)) for t in range(600)]
    for row in rows:
        row["processes"]["web-1"][0][figure] = 100.0 + row["t"] / 4
    return next(check for check in checks.level(rows) if check.name.startswith(figure))


class _Empty:
    """The API of a cluster in which there is nothing, or one Job that nobody has deleted."""

    def list(self, path: str) -> list[dict[str, Any]]:
        left = {"metadata": {"name": "run-1", "creationTimestamp": "2026-01-01T00:00:00Z"}}
        return [left] if path.endswith("/jobs") else []


def _bed(**more: Any) -> Any:
    return SimpleNamespace(admin=_Empty(), **more)


def _mirror() -> Check:
    make_node(make_cluster("near"), "gpu-1", "nvidia", 1)
    return settled.mirror(_bed(), "near", NOW)


def _watching() -> Check:
    make_cluster("near", held=False)
    return settled.watching(NOW)


def _told() -> Check:
    from django.utils import timezone

    cluster = make_cluster("near")
    cluster.recreated_at = timezone.now()
    cluster.save()
    return settled.told(NOW)


def _run(**more: Any) -> Any:
    from django.utils import timezone

    from validations.models import Run

    now = timezone.now()
    row = {"suite": "s", "node_name": "n", "namespace": "x", "state": "queued", "state_since": now, **more}
    return Run.objects.create(cluster=make_cluster("near"), **row)


def _stuck() -> Check:
    _run()
    return settled.runs_ended([], NOW)


def _failed_runs() -> list[Check]:
    from django.utils import timezone

    _run(state="ended", verdict="failed", ended_at=timezone.now(), job_name="j1", job_uid="u1")
    return list(settled.runs([], 0, [("j1", "u1")]))


@pytest.mark.django_db
@pytest.mark.parametrize(("away", "ok"), [(0, False), (1, True)])
def test_a_second_pod_is_explained_by_an_api_server_that_was_away(away: int, ok: bool) -> None:
    from django.utils import timezone

    reasons = [{"code": "pod-changed", "text": "The Job has 2 pods; gpudash asks for one.", "line": None}]
    _run(state="ended", verdict="errored", ended_at=timezone.now(), job_name="j1", job_uid="u1", reasons=reasons)
    assert list(settled.runs([], 0, [("j1", "u1")], away))[1].ok is ok


@pytest.mark.django_db
@pytest.mark.parametrize(("verdict", "ok"), [("skipped", True), ("errored", False)])
def test_a_run_of_a_policy_may_be_skipped_and_nothing_else(verdict: str, ok: bool) -> None:
    from django.utils import timezone

    from validations.models import Policy

    policy = Policy.objects.create(name="soak", suite="s", max_age_s=3600)
    _run(state="ended", verdict=verdict, ended_at=timezone.now(), job_name="j1", job_uid="u1", policy=policy)
    assert list(settled.runs([], 0, [("j1", "u1")]))[1].ok is ok


def _measurements() -> Check:
    played = Played()
    try:
        return settled.measurements(_bed(exporters=played), NOW)
    finally:
        played.close()


def _audit_log() -> Check:
    from audit.models import Head

    Head.objects.update(seal="")
    return settled.audit_log()


def _traceback(folder: Path) -> Check:
    (folder / "web-1.log").write_text("Traceback (most recent call last):\nKeyError: 1\n")
    return report.tracebacks(folder)


def _missed() -> Check:
    return checks.carried_out([Fault("kill", "web", 1.0, 2.0)])


MADE = datetime(2026, 11, 22, 10, 30, tzinfo=UTC)
PAUSED = MADE + timedelta(minutes=30)


def _seen(minute: float, ended: float | None = None, target: tuple[str, str] = ("n", "0")) -> Seen:
    end = None if ended is None else MADE + timedelta(minutes=ended)
    return Seen(f"r{minute:g}", target, True, MADE + timedelta(minutes=minute), end)


#: Runs of a policy that did all that it should.
GOOD = [_seen(minute, minute + 0.5) for minute in range(1, 30, 3)]
HOURS = {MADE.replace(minute=0), PAUSED.replace(minute=0)}


def test_a_policy_that_did_all_that_it_should_is_no_failure() -> None:
    both = [_seen(0.1, 1, ("n", "1")), _seen(0.2, 1, ("m", "1")), _seen(0.3, 1, ("n", "")), _seen(0.4, 1, ("n", ""))]
    assert policies.nothing_twice(1, [*GOOD, *both]).ok
    assert policies.never_idle(MADE, PAUSED, GOOD, 5).ok
    assert policies.never_idle(MADE, PAUSED, GOOD[:2], 0).ok
    assert policies.switched_off(PAUSED, [*GOOD, _seen(30.05)]).ok
    assert policies.no_gap(MADE, PAUSED, [HOURS, HOURS]).ok


@pytest.mark.parametrize(
    "check",
    [
        policies.nothing_twice(1, []),
        policies.nothing_twice(2, GOOD),
        policies.nothing_twice(1, [_seen(1), _seen(2, 3)]),
        policies.never_idle(MADE, PAUSED, GOOD[:2], 5),
        policies.never_idle(MADE, PAUSED, [], 0),
        policies.no_gap(MADE, PAUSED, [HOURS]),
        policies.no_gap(MADE, PAUSED + timedelta(hours=2), [HOURS, HOURS]),
    ],
)
def test_a_policy_that_did_not_is_one(check: Check) -> None:
    assert not check.ok


CASE = out_of_service.Seen("c1", "n1", "returned", "passed", 1, 1)
BY_HAND = out_of_service.Seen("c2", "n1", "returned", "removed-by-hand", 1, 1)
OUT = out_of_service.Seen("c3", "n1", "out", "", 1, 0)
ENDS = {"c1": "passed", "c2": "removed-by-hand", "c3": "person"}
OURS, OTHERS = "gpudash.io/failed-validation", out_of_service.OTHERS["key"]


def test_good_cases_are_good() -> None:
    assert out_of_service.once_each([CASE, BY_HAND, OUT], ENDS, 2).ok
    assert out_of_service.marks_and_rows(["n1"], {"n1": {OURS}, "n2": {OTHERS}}).ok
    assert out_of_service.others_stay({"n1": {OURS, OTHERS}}).ok


@pytest.mark.parametrize(
    "found",
    [
        out_of_service.once_each([CASE, BY_HAND], ENDS, 2),
        out_of_service.once_each([CASE, BY_HAND, OUT], ENDS, 0),
        out_of_service.once_each([CASE._replace(reason="person"), BY_HAND, OUT], ENDS, 2),
        out_of_service.once_each([CASE._replace(unmarks=0), BY_HAND, OUT], ENDS, 2),
        out_of_service.once_each([CASE, BY_HAND._replace(unmarks=0), OUT], ENDS, 2),
        out_of_service.once_each([CASE, BY_HAND, OUT._replace(marks=0)], ENDS, 2),
        out_of_service.marks_and_rows([], {"n1": {OURS}}),
    ],
)
def test_more_that_is_wrong_with_cases(found: Check) -> None:
    assert not found.ok


TAKEN = notified.Got("m1", (("finding:1", "began"),))


def test_good_notifications_are_no_failure() -> None:
    ended = notified.Got("m2", (("finding:1", "ended"),))
    rows = [notified.Row(one.message, "delivered", None) for one in (TAKEN, ended)]
    assert notified.nothing_lost([TAKEN, ended], rows, 0, MADE).ok
    assert notified.told_once([ended, TAKEN]).ok


@pytest.mark.parametrize(
    "found",
    [
        notified.nothing_lost([], [], 0, MADE),
        notified.nothing_lost([TAKEN], [], 0, MADE),
        notified.nothing_lost([TAKEN], [notified.Row("m1", "uncertain", None)], 0, MADE),
        notified.nothing_lost([TAKEN], [notified.Row("m1", "waiting", MADE - timedelta(hours=1))], 0, MADE),
        notified.nothing_lost([TAKEN], [notified.Row("m1", "delivered", None)], 1, MADE),
        notified.told_once([notified.Got("m1", (("finding:1", "ended"),))]),
    ],
)
def test_each_fault_of_notifications_is_found(found: Check) -> None:
    assert not found.ok


PLANTED: dict[str, Callable[[], Check]] = {
    "no notification is lost": lambda: notified.nothing_lost([TAKEN], [notified.Row("m2", "delivered", None)], 0, MADE),
    "each notification is sent once": lambda: notified.told_once([TAKEN, TAKEN._replace(message="m2")]),
    "{} of each kind of process is level": lambda: checks.level(leaking(300.0))[0],
    "the tables are never far behind": lambda: checks.lag([sample(1.0), sample(2.0, lag=91.0)]),
    "REST does not hide that the mirror is behind": lambda: checks.honest([sample(9.0, lag=40.0)]),
    "requests are answered": lambda: checks.requests([asked(500)], []),
    "everybody has signed in": lambda: checks.sign_ins([asked(503, "3", kind="sign-in")], 1),
    "what cards use is read all the time": lambda: checks.measured(
        [sample(300.0, usage={"cards": 8, "age_s": 300.0})], 8
    ),
    "no process died by itself": lambda: checks.processes([Death("web-1", 1, 3.0, "last words")]),
    "services end within 30 s when told": lambda: checks.ended(["watch-1"]),
    "the faults were made": _missed,
    "the cluster was busy": lambda: checks.load([sample(1.0, events=2)], 1.0, 50.0, []),
    "clients and campaigns worked": lambda: checks.worked("", []),
    "queues are empty": lambda: settled.queues([sample(1.0, queues={"default": 3})]),
    "mirror of {} = cluster, object by object": _mirror,
    "every kind of every cluster is watched, or rests where there is nothing of it": _watching,
    "no cluster is said to be away or another one": _told,
    "no run is stuck": _stuck,
    "no run is lost or doubled": lambda: settled.lost_or_doubled(["c1"], ["c1"], 1, [RUN], []),
    "every run has passed": lambda: _failed_runs()[1],
    "no card has two runs at a time": lambda: policies.nothing_twice(1, [_seen(1, 5), _seen(4, 6)]),
    "no due card waits while the policy is idle": lambda: policies.never_idle(MADE, PAUSED, [_seen(1), _seen(9)], 0),
    "a paused policy starts nothing": lambda: policies.switched_off(PAUSED, [_seen(31)]),
    "each hour of a policy is counted": lambda: policies.no_gap(MADE, PAUSED, [HOURS, set()]),
    "each case is marked and returned once": lambda: out_of_service.once_each([CASE._replace(marks=2)], ENDS, 1),
    "no mark without a case, no case without its mark": lambda: out_of_service.marks_and_rows(["n1"], {"n1": set()}),
    "the taints of others stay": lambda: out_of_service.others_stay({"n1": set()}),
    "the audit log is intact": _audit_log,
    "no Job is left in the cluster": lambda: settled.no_job_left(_bed(), NOW),
    "what cards use = what their exporters say": _measurements,
}
#: Its test gives it a folder of logs.
OF_LOGS = "no traceback that nobody explains"


@pytest.mark.django_db
@pytest.mark.parametrize("name", PLANTED)
def test_what_was_planted_is_found(name: str) -> None:
    found = PLANTED[name]()
    head, _, tail = name.partition("{}")
    assert found.name.startswith(head)
    assert found.name.endswith(tail)
    assert not found.ok


@pytest.mark.parametrize("figure", checks.LEVELS)
def test_each_figure_of_a_process_that_rises_is_found(figure: str) -> None:
    assert not _level(figure).ok


def test_a_traceback_is_found(tmp_path: Path) -> None:
    found = _traceback(tmp_path)
    assert (found.name, found.ok) == (OF_LOGS, False)


def test_every_check_that_a_soak_makes_is_here() -> None:
    assert set(_names()) == {*PLANTED, OF_LOGS}


def _names() -> Iterator[str]:
    """Names of all checks, from where they are made; what a name is filled with is "{}"."""
    for file in SOAK.glob("*.py"):
        if file.name.startswith("test_"):
            continue
        for node in ast.walk(ast.parse(file.read_text())):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Name)
                and node.func.id in ("Check", "patiently")
            ) and (name := _text(node.args[0])) is not None:
                yield name


def _text(first: ast.expr) -> str | None:
    """None: the name is given by a caller that is found itself."""
    if isinstance(first, ast.Constant):
        return str(first.value)
    if isinstance(first, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in first.values)
    return None
