"""`python -m tests.soak [--minutes N] [--seed S] [--folder F]`: does a whole installation stand load and faults?

All parts are real: etcd, kube-apiserver, scheduler, controllers; PostgreSQL, Redis, Prometheus, nginx before two web processes,
two watch, two launch and two tasks workers, a usage worker and the schedule, as deploy/ has them; only the kubelet, the GPUs and
their exporters are played. 20 clients read, the cluster changes 50 times a second, campaigns of runs follow one another, a policy
tests cards, cards that fail are taken out of service and return, a receiver takes notifications, and every 20 seconds something goes
wrong. At the end all must be in sync, no run lost, doubled or stuck, no memory that grows, no traceback that nobody explains.

The folder gets the logs, samples.jsonl, faults.jsonl, requests.jsonl, summary.json, chart.html and chart.png. The last line on
stdout is the summary as JSON. Exit code 1: a check failed.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import time
from pathlib import Path

from bench.report import progress
from tests.services import Missing, wait_until
from tests.soak import report
from tests.soak.bed import CLUSTERS, NEAR, Bed, bed
from tests.soak.campaigns import Campaigns
from tests.soak.checks import Check, worked
from tests.soak.churn import VALIDATED, Churn
from tests.soak.faults import Faults, write
from tests.soak.markers import Markers
from tests.soak.notified import Receiver
from tests.soak.notified import checks as of_notifications
from tests.soak.out_of_service import OutOfService
from tests.soak.out_of_service import checks as of_quarantine
from tests.soak.people import PEOPLE, Clients, token
from tests.soak.policies import Policies
from tests.soak.policies import checks as of_policies
from tests.soak.report import Measured
from tests.soak.requests import Asked
from tests.soak.samples import RestWatch, Sampler
from tests.soak.settled import all_settled, mirror, queues, runs

RATE = 50.0
FIRST_SYNC_S = 180.0
#: Samples after the last check, for the queues.
QUIET_S = 20.0


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="tests.soak", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--seed", type=int, default=1, help="decides the order of changes and faults (1)")
    parser.add_argument("--folder", type=Path, default=Path("var/soak"), help="it is emptied (var/soak)")
    given = parser.parse_args()
    folder = given.folder.resolve()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        measured = soak(folder, given.minutes * 60, given.seed)
    except Missing as missing:
        print(f"cannot run here: {missing}", file=sys.stderr)
        return 1
    return report.tell(measured, folder)


def soak(folder: Path, seconds: float, seed: int) -> Measured:
    progress(f"starting all parts; logs in {folder}")
    with bed(folder) as ready:
        measured = _on(ready, seconds, seed)
        progress("ending all parts")
        ready.supervisor.stop()
        measured.deaths, measured.late = ready.supervisor.deaths, ready.supervisor.late
        measured.logs = ready.logs
    return measured


def _on(ready: Bed, seconds: float, seed: int) -> Measured:
    asked: list[Asked] = []
    churn, markers = Churn(ready.admin, seed, RATE), Markers(ready.admin)
    churn.build(ready.kubelet.port)
    markers.start()
    _first_sync(ready)
    clients = Clients(ready, ready.folder / "requests.jsonl", seed, [f"gib-{number}" for number in range(4)])
    zero = time.monotonic()
    sampler = Sampler(ready, ready.folder / "samples.jsonl", markers, lambda: churn.made, zero)
    rest = RestWatch(ready.site, token("sampler"), sampler, asked.append)
    operator = token("launches", operator=True)
    campaigns = Campaigns(ready.site, operator, NEAR, VALIDATED, asked.append)
    policies = Policies(ready.site, operator, NEAR, asked.append)
    out = OutOfService(ready.admin, ready.kubelet, ready.site, operator, NEAR, asked.append)
    receiver, faults = Receiver(), Faults(ready, seed)
    for part in (sampler, rest, clients, churn, campaigns, policies, out, receiver, faults):
        part.start()
    _wait(zero, seconds, faults, churn)
    progress("churn and faults end; settling")
    for ending in (faults, campaigns, policies, out, churn, markers):
        ending.stop()
    write(ready.folder / "faults.jsonl", faults.made, zero)
    checks = _settle(ready, campaigns)
    time.sleep(QUIET_S)
    troubles = clients.stop()
    rest.stop()
    sampler.stop()
    away = sum(fault.kind == "api server" for fault in faults.made)
    checks += [queues(sampler.rows), *runs(campaigns.ids, len(VALIDATED), ready.plane.jobs_made(), away)]
    checks += [
        worked(troubles, campaigns.ids),
        *of_policies(policies),
        *of_quarantine(out),
        *of_notifications(receiver),
    ]
    receiver.stop()
    return Measured(
        zero=zero, seed=seed, seconds=seconds, rate=RATE, rows=sampler.rows, faults=faults.made,
        people=PEOPLE, measured_cards=ready.exporters.cards, asked=clients.asked(asked), mistakes=churn.mistakes, checks=checks,
    )  # fmt: skip


def _first_sync(ready: Bed) -> None:
    """All that was made so far is in the tables. Raises AssertionError with the differences."""
    for name in CLUSTERS:
        found = mirror(ready, name, time.monotonic() + FIRST_SYNC_S)
        if not found.ok:
            raise AssertionError(f"{found.name}: {found.figure}\n" + "\n".join(found.details))
        progress(f"{found.name}, {found.figure}")
    wait_until(lambda: all(part.pid for part in ready.parts), "all parts run")


def _wait(zero: float, seconds: float, faults: Faults, churn: Churn) -> None:
    told = 0
    while time.monotonic() - zero < seconds:
        time.sleep(0.5)
        for fault in faults.made[told:]:
            progress(
                f"{time.monotonic() - zero:5.0f} s  {fault.kind}: {fault.part} {fault.note}  ({churn.made} changes so far)"
            )
        told = len(faults.made)


def _settle(ready: Bed, campaigns: Campaigns) -> list[Check]:
    from django.db import connections

    connections.close_all()  # this process's own; it may be from before a restart
    checks = []
    for check in all_settled(ready, campaigns.ids):
        progress(f"{'ok    ' if check.ok else 'FAILED'} {check.name}: {check.figure}")
        checks.append(check)
    return checks


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    os.environ.setdefault("PYTHONWARNINGS", "ignore::ResourceWarning")
    sys.exit(main())
