"""A run ends: it is judged, and its verdict is written with its end, its measurements and the last results in one transaction.

The log is read and parsed before the transaction begins: a long log holds no lock.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import F

from validations import attribution, baseline, logstore, pool_baseline
from validations.attribution import CARD_COLUMNS, Taken
from validations.enqueue import soon
from validations.lastresults import add_ended, refresh_last
from validations.lifecycle.judge import judge
from validations.lifecycle.members import note_ranks
from validations.lifecycle.moves import end
from validations.lifecycle.unstarted import software_of
from validations.models import SAYS, Measurement, Policy, Run, State
from wording.said import stored


def end_run(
    run: Run,
    from_state: str,
    took: Taken | None = None,
    rest: bytes = b"",
    read: int = 0,
    at: datetime | None = None,
    **columns: Any,
) -> bool:
    """Judge and end a run. False when it was not in `from_state` any more, or its log has grown: nothing is written then.

    took: the card that the pod took; None when there was none to look at. rest: the end of the log, stored with the verdict; it
    stands for so many bytes (`read`) of the container's log. at: when it ended, of a run that is written down later: it is compared
    with runs of before; None: now.
    """
    asked = {name: getattr(run, name) for name in CARD_COLUMNS}
    columns |= attribution.columns(run, took) if took is not None else {}
    for name, value in columns.items():
        setattr(run, name, value)
    if at is not None:
        run.ended_at = at
    judged = judge(run, rest, software_of(run, rest))
    says_nothing = judged.result.verdict not in SAYS
    if says_nothing and not run.card_key:
        # Nothing was said of a card: the run stays where it was to go.
        columns |= asked
        for name, value in asked.items():
            setattr(run, name, value)
    try:
        with transaction.atomic():
            logstore.append(run, rest, read)
            if not end(run, from_state, at, **columns, **judged.columns()):
                raise logstore.Moved(run.pk)
            measured = Measurement.objects.bulk_create(baseline.rows(run, judged.result, judged.against))
            pool_baseline.keep(run, measured)
            if run.node_name:
                (add_ended if says_nothing else refresh_last)(run)
            note_ranks(run)
            _tell_policies(run)
            _make_room(run)
    except logstore.Moved:
        return False
    return True


def end_without_judgement(run: Run, code: str, text: str) -> None:
    """The last way out for a run that cannot be judged: errored, with this reason, and nothing that came from outside is stored."""
    reasons = [{"code": code, "text": text, "line": None, "wording": stored(text)}]
    with transaction.atomic():
        if end(run, run.state, verdict="errored", reasons=reasons, ending=[code, text], log_complete=False):
            if run.node_name:
                add_ended(run)
            _tell_policies(run)
            _make_room(run)


def _tell_policies(run: Run) -> None:
    """What the node's cards are under the policies of the suite is looked at anew, soon."""
    if Policy.objects.filter(suite=run.suite).exists():
        soon("evaluate_policies", run.pk)


def _make_room(run: Run) -> None:
    """A run that found no room on this node while this one was there is due again, before those that were asked for later."""
    held = Run.objects.filter(cluster_id=run.cluster_id, node_name=run.node_name, state=State.QUEUED)
    held.filter(due_at__gt=F("created_at")).update(due_at=F("created_at"))
