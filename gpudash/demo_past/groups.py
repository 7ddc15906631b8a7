"""Runs of several nodes that ended: nodes that passed together, others that did not, and the pairs that say which of them it was."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from datetime import datetime

from django.db import IntegrityError, transaction

from fleetsim import outcomes, recordings
from fleetsim.clock import HOUR
from fleetsim.machines import Machine
from fleetsim.programs import container
from gpudash.demo_past.clock import Times, utc
from gpudash.demo_past.logs import Printed
from gpudash.demo_past.runs import OPEN, PEOPLE, Runs
from validations import groups
from validations.models import Run, RunNode
from validations.planning import Plan, Refused, RunDraft, plan
from validations.requests import row_of
from validations.suites import registry
from validations.suites.engine.demo import Group
from validations.suites.engine.group import host_name
from validations.suites.engine.manifest import job_name


def write(runs: Runs, times: Times, breathe: Callable[[], None]) -> int:
    """Those that suites say they had, of nodes that there are; the oldest first. How many there were."""
    machines = {seat.node: seat.machine for seat in runs.seats}
    told = [(suite.id, one) for suite in registry().values() for one in suite.demo.past.groups]
    told.sort(key=lambda pair: -pair[1].ago)
    count = 0
    for number, (suite, one) in enumerate(told):
        at = times.on_day(one.ago, OPEN + number * HOUR)
        if at >= times.since and all(node in machines for node in one.nodes):
            count += _write(suite, one, [machines[node] for node in one.nodes], runs, utc(at))
            breathe()
    return count


def _write(suite: str, one: Group, machines: list[Machine], runs: Runs, at: datetime) -> bool:
    draft = RunDraft(suite=suite, cluster=runs.cluster.name, nodes=list(one.nodes), queue_if_full=True)
    try:
        made = plan(draft, at)
    except Refused:
        return False
    if made.hindrances(True):
        return False
    row = row_of(made, draft, None, at)
    row.requested_by_name, row.due_at = PEOPLE[0], row.created_at
    said = _printed(made, one, machines, runs)
    try:
        with transaction.atomic():
            return runs.happen(row, None, said, _members(made, row, runs, said.exit_code))
    except IntegrityError:
        return False


def _members(made: Plan, row: Run, runs: Runs, exit_code: int | None) -> list[RunNode]:
    """The pods of the group, each on its node."""
    rows = groups.rows(row.pk, made.group)
    for index, one in enumerate(rows):
        # Those that index 0 starts end with 0, whatever happens: see `bootstrap` of the suite.
        one.index, one.pod_name, one.pod_uid = index, runs.pod_name(host_name(row.job_name, index)), runs.uid()
        one.said = f"exit code {0 if index else exit_code}"
    return rows


def _printed(made: Plan, one: Group, machines: list[Machine], runs: Runs) -> Printed:
    """What the first pod printed: the recording names cards of its own node, so those of the others are put in."""
    template = deepcopy(made.manifest["spec"]["template"])
    template["metadata"]["labels"][outcomes.OUTCOME_LABEL] = one.outcome
    script = outcomes.script(runs.programs, template, machines[0], True)
    cards = list(range(int(made.options["cards"])))
    seen = [container(machine, cards) for machine in machines]
    job = job_name(made.run_id)
    text = recordings.text(*script.recording, machines[0], replace(seen[0], node=host_name(job, 0)))
    for index, here in enumerate(seen):
        mark = f" on {host_name(job, index)} "
        lines = (line.replace(seen[0].gpu, here.gpu) if mark in line else line for line in text.splitlines())
        text = "\n".join(lines) + "\n"
    reason = "Completed" if script.exit_code == 0 else "Error"
    return Printed(text.encode(), script.exit_code, reason, script.seconds)
