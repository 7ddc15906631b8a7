"""Each check finds an error that was planted, and nothing where there is none."""

from __future__ import annotations

from typing import Any

import pytest

from tests.soak import checks, settled
from tests.soak.faults import Fault
from tests.soak.parts import Death
from tests.soak.requests import BROKEN, Asked

Json = dict[str, Any]
SESSIONS = {"connections": 9, "waiting": 0, "oldest_transaction_s": 0.1}
RUN = {
    "pk": "r1",
    "campaign": "c1",
    "node_name": "n",
    "job_name": "j1",
    "job_uid": "u1",
    "verdict": "passed",
    "state": "ended",
}


def process(pid: int, rss: float = 100.0) -> Json:
    return {
        "pid": pid, "resident_mib": rss, "heap_mib": rss / 3, "kiloblocks": 800.0, "fds": 20, "threads": 9, "cpu_s": 0.1,
    }  # fmt: skip


def sample(t: float, lag: float = 0.0, rss: float = 100.0, **more: Any) -> Json:
    return {
        "t": t,
        "processes": {
            "web-1": [
                {
                    "pid": 7,
                    "resident_mib": rss,
                    "heap_mib": rss / 3,
                    "kiloblocks": 800.0,
                    "fds": 20,
                    "threads": 9,
                    "cpu_s": t / 4,
                }
            ]
        },
        "queues": {"default": 0, "watch": 0, "unacked": 0},
        "lag_s": {"near": {"pods": lag, "allocations": 0.0}, "far": {"pods": 0.0, "allocations": 0.0}},
        "usage": {"cards": 8, "age_s": 30.0},
        "rest": {"near": {"state": "watching", "age_seconds": 1.0, "t": t}},
        "events": 50,
        "soak_cpu_s": t / 2,
        **more,
    }


def asked(status: int, note: str = "", kind: str = "page nodes", at: float = 100.0, target: str = "/nodes") -> Asked:
    return Asked(kind, at, 0.1, status, note, target)


def fault(kind: str, began: float, ended: float, part: str = "") -> Fault:
    return Fault(kind, part or kind, began, ended)


def levels(rows: list[Json]) -> dict[str, bool]:
    return {check.name.split()[0]: check.ok for check in checks.level(rows)}


def test_memory_that_grows_is_found() -> None:
    level = dict.fromkeys(("heap_mib", "kiloblocks", "resident_mib", "fds", "threads"), True)
    grown = [sample(t, rss=100.0 + t / 12) for t in range(400)]
    assert levels(grown) == level | {"heap_mib": False, "resident_mib": False}
    assert levels([sample(t) for t in range(400)]) == level


def test_a_small_leak_is_found_below_the_swing_of_resident_memory() -> None:
    """Of 8 MiB an hour in one life of half an hour."""
    small = leaking(24.0, life_s=1800.0)
    assert levels(small) == levels(leaking(0.0)) | {"heap_mib": False}


def test_who_takes_over_the_work_of_others_does_not_leak_by_it(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [sample(float(t)) for t in range(1800)]
    for row in rows:
        process, taken = row["processes"]["web-1"][0], int(row["t"]) // 450
        process["threads"] += 10 * taken
        process["heap_mib"] += 2.0 * taken
    assert levels(rows)["heap_mib"]
    monkeypatch.setattr(checks, "OTHER_WORK", 99)
    assert not levels(rows)["heap_mib"]


def leaking(per_hour: float, life_s: float = 320.0, seconds: float = 1800.0) -> list[Json]:
    """A soak in which the web process is killed each five minutes, and each time leaks anew."""
    rows = []
    for t in range(int(seconds)):
        number, age = divmod(t, life_s)
        row = sample(float(t), rss=100.0 + per_hour * age / 3600)
        row["processes"]["web-1"][0]["pid"] = 1000 + int(number)
        rows.append(row)
    return rows


def test_a_leak_is_found_although_no_life_is_long() -> None:
    assert not levels(leaking(300.0))["heap_mib"]
    assert levels(leaking(0.0))["heap_mib"]


def test_a_long_soak_judges_every_kind_of_process() -> None:
    rows = leaking(0.0)
    for row in rows:
        row["processes"]["schedule"] = [process(int(row["t"]) // 100)]
    found = checks.level(rows)[0]
    assert (found.ok, found.details) == (False, ("no life of schedule was long enough to be judged",))
    assert checks.level(rows[:800])[0].ok


def test_one_sample_proves_nothing_of_the_lag() -> None:
    unknown = [sample(float(t), lag_s=None) for t in range(1, 60)]
    assert not checks.lag([sample(0.0), *unknown]).ok
    one_table = {"near": {"pods": 0.0, "allocations": 0.0}, "far": {"pods": 0.0}}
    assert not checks.lag([sample(float(t), lag_s=one_table) for t in range(60)]).ok
    blind = [sample(float(t), **({"lag_s": None} if 100 <= t < 200 else {})) for t in range(400)]
    assert checks.lag(blind).details == ("no sample for 101 s",)


def test_a_table_that_is_far_behind_is_found() -> None:
    assert checks.lag([sample(1), sample(2, lag=89.0)]).ok
    found = checks.lag([sample(1), sample(2, lag=91.0)])
    assert not found.ok
    assert "91.0 s (pods of near at 2 s)" in found.figure


def test_without_a_sample_nothing_is_proven() -> None:
    assert not checks.lag([sample(1, lag_s=None)]).ok
    assert not checks.honest([]).ok
    assert not checks.requests([], []).ok
    assert not checks.level([])[0].ok
    assert not settled.queues([]).ok


def test_rest_that_hides_a_lag_is_found() -> None:
    assert checks.honest([sample(9, lag=20.0)]).ok
    assert not checks.honest([sample(9, lag=40.0)]).ok
    said = {"near": {"state": "watching", "age_seconds": 39.0, "t": 9}}
    assert checks.honest([sample(9, lag=40.0, rest=said)]).ok
    assert checks.honest(
        [sample(9, lag=40.0, rest={"near": said["near"] | {"state": "silent", "age_seconds": 1.0}})]
    ).ok


@pytest.mark.parametrize(
    "one",
    [
        asked(500),
        asked(502),
        asked(503, "the server is busy"),
        asked(503, "5"),
        asked(BROKEN, "ProtocolError"),
        asked(302),
        asked(401),
        asked(404),
    ],
)
def test_an_answer_that_is_wrong_is_found(one: Asked) -> None:
    assert not checks.requests([one], []).ok


def test_answers_that_are_right_are_not() -> None:
    fine = [asked(200), asked(204), asked(302, kind="sign-in"), asked(404, target="/nodes/near/gib-1")]
    assert checks.requests(fine, []).ok


def test_while_the_database_is_away_503_with_retry_after_is_right_and_nothing_else() -> None:
    away = [fault("database", 95.0, 99.0)]
    assert checks.requests([asked(503, "5")], away).ok
    assert not checks.requests([asked(503, "words")], away).ok
    assert not checks.requests([asked(500)], away).ok
    assert not checks.requests([asked(503, "5", at=94.0)], away).ok
    assert not checks.requests([asked(503, "5", at=99.0 + checks.HEALED_S + 1)], away).ok


def test_a_csv_ends_early_where_the_database_goes_and_no_other_answer_does() -> None:
    away = [fault("database", 95.0, 99.0)]
    assert checks.requests([asked(BROKEN, "IncompleteRead", target="/api/v1/nodes?format=csv")], away).ok
    assert not checks.requests([asked(BROKEN, "IncompleteRead")], away).ok
    assert not checks.requests([asked(BROKEN, "IncompleteRead", target="/nodes?format=csv", at=94.0)], away).ok


def test_a_sign_in_that_may_come_again_is_excused_at_the_beginning_and_while_a_web_process_starts() -> None:
    busy = [asked(503, "3", kind="sign-in", at=at) for at in (10.0, 10.0 + checks.CROWD_S + 1)]
    assert checks.requests(busy[:1], []).ok
    assert not checks.requests(busy, []).ok
    assert checks.requests(busy, [fault("kill", busy[1].at - 1, busy[1].at, "web")]).ok


def test_a_run_may_be_refused_while_the_run_before_has_its_card() -> None:
    note = '{"detail":"node: 1 nvidia.com/gpu required, 0 free. (no-free)."'
    assert checks.requests([asked(400, note, kind="rest POST runs")], []).ok
    assert not checks.requests([asked(400, note, kind="rest POST campaigns")], []).ok
    assert not checks.requests([asked(400, "node: not ready", kind="rest POST runs")], []).ok


def test_who_never_gets_in_is_found() -> None:
    assert checks.sign_ins([asked(503, "3", kind="sign-in"), asked(302, kind="sign-in")], 1).ok
    assert not checks.sign_ins([asked(302, kind="sign-in")], 2).ok
    assert not checks.sign_ins([], 0).ok


def test_what_ends_because_it_was_told_to_breaks_nothing_off() -> None:
    assert not checks.requests([asked(502)], [fault("end", 99.0, 104.0, "web")]).ok


def test_measurements_that_stop_or_never_come_are_found() -> None:
    assert checks.measured([sample(float(t)) for t in range(300)], 8).ok
    assert not checks.measured([sample(float(t)) for t in range(300)], 9).ok
    assert not checks.measured([sample(1.0, usage={"cards": 0, "age_s": checks.NEVER})], 8).ok
    assert not checks.measured([sample(300.0, usage={"cards": 8, "age_s": 241.0})], 8).ok
    assert not checks.measured([sample(1.0, usage=None)], 8).ok


def test_a_kill_that_hit_nothing_is_none() -> None:
    made, missed = fault("kill", 1.0, 2.0, "web"), fault("kill", 1.0, 2.0, "web")
    made.hit = True
    assert checks.carried_out([made]).ok
    found = checks.carried_out([made, missed])
    assert (found.ok, found.figure, found.details) == (False, "1 kill", ("kill web: hit nothing ",))


def test_a_campaign_is_refused_while_the_api_server_reads_its_roles_and_no_longer() -> None:
    def post(at: float, note: str = "targets: Cluster near: The launcher is not authorized to list jobs") -> Asked:
        return asked(400, note, kind="rest POST campaigns", at=at)

    restarted = [fault("api server", 90, 110)]
    assert checks.requests([post(100), post(124)], restarted).ok
    assert not checks.requests([post(126)], restarted).ok
    assert not checks.requests([post(100, "targets: no such node")], restarted).ok
    assert not checks.requests([post(100)], [fault("broker", 90, 110)]).ok


def test_what_a_kill_of_web_breaks_off_is_excused_for_a_moment() -> None:
    killed = [fault("kill", 99.0, 104.0, "web")]
    assert checks.requests([asked(BROKEN, "x"), asked(502)], killed).ok
    assert not checks.requests([asked(502, at=99.0 + checks.KILLED_S + 1)], killed).ok
    assert not checks.requests([asked(502)], [fault("kill", 99.0, 104.0, "watch")]).ok
    assert not checks.requests([asked(500)], killed).ok


def test_a_campaign_may_be_refused_while_the_token_of_the_launcher_is_dead() -> None:
    post = asked(400, "the credentials", kind="rest POST campaigns")
    assert checks.requests([post], [fault("token", 95.0, 101.0, "gpudash-launcher of near")]).ok
    assert not checks.requests([post], [fault("token", 95.0, 101.0, "gpudash-watcher of far")]).ok
    assert not checks.requests([post], [fault("token", 50.0, 55.0, "gpudash-launcher of near")]).ok


def test_deaths_failed_faults_and_an_idle_cluster_are_found() -> None:
    assert checks.processes([]).ok
    assert not checks.processes([Death("web-1", 1, 3.0, "last words")]).ok
    assert checks.ended([]).ok
    assert not checks.ended(["watch-1"]).ok
    assert not checks.carried_out([]).ok
    broken = fault("database", 1.0, 2.0)
    broken.error = "it did not start"
    assert not checks.carried_out([broken]).ok
    assert checks.load([sample(1)], 1.0, 50.0, []).ok
    assert not checks.load([sample(1, events=2)], 1.0, 50.0, []).ok
    assert not checks.load([sample(1)], 1.0, 50.0, ["run: 400"]).ok


def test_healing_is_the_time_until_the_tables_are_in_step() -> None:
    rows = [sample(float(t), lag=max(0.0, float(t - 10)) if t < 22 else 0.0) for t in range(60)]
    found = checks.healing(rows, [fault("kill", 1010.0, 1015.0)], zero=1000.0)
    assert found == {"kill": {"count": 1, "longest_lag_s": 11.0, "in_step_after_s": 11.0}}


def test_cores_are_cpu_seconds_over_seconds() -> None:
    assert checks.cores([sample(float(t)) for t in range(1, 101)]) == {"web-1": 0.25, "the soak": 0.5}
    assert checks.cores([sample(1.0)]) == {}


@pytest.mark.parametrize(
    ("ids", "stored", "rows", "made", "said"),
    [
        (["c1"], ["c1"], [RUN], [("j1", "u1")], ""),
        (["c1", "c2"], ["c1"], [RUN], [("j1", "u1")], "campaign c2 was taken by REST and is not there"),
        (["c1"], ["c1"], [RUN], [], "0 Jobs 'j1' were made"),
        (["c1"], ["c1"], [RUN], [("j1", "u1"), ("j1", "u2")], "2 Jobs 'j1' were made"),
        (["c1"], ["c1"], [RUN], [("j1", "u9")], "run r1 knows Job u1, made was u9"),
        (["c1"], ["c1"], [RUN], [("j1", "u1"), ("j2", "u2")], "Job j2 belongs to no run"),
        (["c1"], ["c1"], [RUN, {**RUN, "pk": "r2", "job_name": "j2"}], [("j1", "u1"), ("j2", "u1")], "has 2 runs of 1"),
    ],
)
def test_runs_that_are_lost_or_doubled_are_found(
    ids: list[str], stored: list[str], rows: list[Json], made: list[tuple[str, str]], said: str
) -> None:
    found = settled.lost_or_doubled(ids, stored, 1, rows, made)
    assert found.ok == (not said)
    assert said in " ".join(found.details)


def test_a_killed_api_server_may_lose_the_line_of_a_job_that_it_stored() -> None:
    assert settled.lost_or_doubled(["c1"], ["c1"], 1, [RUN], [], api_server_away=1).ok
    more = [RUN, {**RUN, "pk": "r2", "job_name": "j2"}]
    assert not settled.lost_or_doubled(["c1"], ["c1"], 2, more, [], api_server_away=1).ok
    assert not settled.lost_or_doubled(["c1"], ["c1"], 1, [{**RUN, "job_uid": ""}], [], api_server_away=1).ok


def test_a_place_that_is_left_out_is_found() -> None:
    found = settled.lost_or_doubled(["c1"], ["c1"], 1, [RUN], [("j1", "u1")], ["campaign c1 leaves n2 out: refused"])
    assert (found.ok, found.details) == (False, ("campaign c1 leaves n2 out: refused",))


def test_a_queue_that_is_never_empty_is_found() -> None:
    full = {"default": 0, "watch": 3, "unacked": 0}
    rows = [sample(float(t), queues=full) for t in range(30)]
    assert not settled.queues(rows).ok
    assert settled.queues([*rows, sample(30.0)]).ok
    assert not settled.queues([sample(0.0), *(sample(100.0 + t, queues=full) for t in range(20))]).ok


def test_what_does_not_become_right_is_told() -> None:
    assert settled.patiently("all is well", list, 0.0).ok
    found = settled.patiently("all is well", lambda: ["pod a is missing"], 0.0)
    assert (found.ok, found.details) == (False, ("pod a is missing",))
