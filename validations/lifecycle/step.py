"""One run beside its Job and pods: where is it, is that an end, and has it been there too long?"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from django.conf import settings

from inventory.models import Node
from kube.workloads import Job, Pod
from validations import attribution
from validations.lifecycle import collect, own
from validations.lifecycle.create import adopt, end_foreign
from validations.lifecycle.end import end_run
from validations.lifecycle.endings import Ending, cancelled_by, of_row
from validations.lifecycle.look import Look
from validations.lifecycle.members import index_of, note_members, seen_of
from validations.lifecycle.mine import foreign
from validations.lifecycle.moves import move, note
from validations.lifecycle.observe import Seen, last_word, observe
from validations.models import Run, State
from validations.models.run import said_of
from validations.suites.engine.manifest import job_name
from wording.said import sentence

UNREADABLE = sentence("Cannot read the answer of the cluster about the Job or pod of this run.")
#: A pod that is being deleted this long is not let go by its node.
STUCK_S = 120
#: Events of a waiting run are asked for at the first look at its state, then this often.
EVENTS_EVERY_S = 10


def too_late(run: Run, now: datetime) -> bool:
    """Whether the run has been in its state too long."""
    return run.step_deadline_at is not None and now > run.step_deadline_at


def give_up_creating(run: Run, look: Look) -> None:
    """The Job may exist all the same (an answer that was lost): it is deleted by its name, now or when it is found later."""
    text = sentence(
        "The Job could not be created within {run_create_timeout_s} s. {last_error}",
        run_create_timeout_s=settings.RUN_CREATE_TIMEOUT_S,
        last_error=run.last_error,
    )
    _end(run, look, None, Ending("timeout", text), patient=False)


def advance(run: Run, job: Job | None, pods: list[Pod], unreadable: bool, look: Look) -> None:
    """Move a run forward by what the cluster shows. Raises ApiError; the next pass then tries again."""
    if job is not None and look.mine.foreign(job, run):
        _not_ours(run, look)
        return
    if job is not None and run.state == State.CREATING:
        if place := own.other_job(job, (run.manifest,)):
            end_foreign(run, place)
            return
        if not adopt(run, job, look.now):
            return
    pods = own.owned(run, job, pods)
    if text := own.forged(run, pods):
        _end_forged(run, text, look)
        return
    if run.cancel_requested_at is not None:
        _end(run, look, seen_of(run, job, pods) if job else None, cancelled_by(run.cancelled_by), patient=False)
        return
    if job is None or (run.job_uid and job.metadata.uid != run.job_uid):
        _without_job(run, pods, unreadable, look)
        return
    note_members(run, pods)
    seen = seen_of(run, job, pods)
    if unreadable and not seen.pod_name:
        note(run, last_error=UNREADABLE)
        _check_deadline(run, seen, look)
        return
    _look(run, seen, look)


def _look(run: Run, seen: Seen, look: Look) -> None:
    if seen.state.rank > State(run.state).rank and not _forward(run, seen, look):
        return
    reason, message = seen.reason[:128].replace("\0", ""), seen.message.replace("\0", "")
    note(
        run,
        pending_reason=reason,
        pending_message=_told(run, seen, message, look),
        **collect.where(run, seen),
        **attribution.confirmed(run, seen.pod),
    )
    if run.state == State.COLLECTING:
        patient = not too_late(run, look.now)
        _end(run, look, seen, of_row(run.ending, said_of(run, "ending")) or seen.ending, patient)
        return
    # Of the log that comes while it runs: a refusal is told now, not only at the end.
    error = collect.follow_log(run, look) if run.state == State.RUNNING else ""
    if error is not None:
        note(run, last_error=error)
    ending = seen.ending or _stuck(run, seen, look.now) or _in_trouble(run, seen, look.now)
    if ending is not None:
        _end(run, look, seen, ending, patient=False)
        return
    _check_deadline(run, seen, look)


def _forward(run: Run, seen: Seen, look: Look) -> bool:
    """Into the state that is seen. A look may come late: when the container started is the kubelet's word, not the look's."""
    started = _moment(seen.started_at)
    return move(run, seen.state, look.now, **({"started_at": started} if started else {}))


def _moment(text: str) -> datetime | None:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    try:
        return found.astimezone(UTC) if found.tzinfo is not None else None
    except OverflowError:  # the last hours of the year 9999 in a zone west of here
        return None


def _told(run: Run, seen: Seen, message: str, look: Look) -> str:
    """The status says little while an image is pulled or no pod comes: the newest event says more, where it may be read."""
    uid = {"NoPod": run.job_uid, "ContainerCreating": seen.pod_uid}.get(seen.reason)
    if not uid:
        return message
    if run.pending_message and _period(run, look.now) == _period(run, run.looked_at or run.state_since):
        return run.pending_message
    return last_word(look.api.events(uid)).replace("\0", "") or run.pending_message or message


def _period(run: Run, moment: datetime) -> int:
    """How many times EVENTS_EVERY_S the run was in its state then: another number than at the last look, and it is time again."""
    return int((moment - run.state_since).total_seconds() // EVENTS_EVERY_S)


def _in_trouble(run: Run, seen: Seen, now: datetime) -> Ending | None:
    """A container that cannot start is given some time to mend itself."""
    if not seen.trouble:
        # Between two tries the kubelet may say ContainerCreating: only a start ends the trouble.
        if seen.state is State.RUNNING:
            note(run, trouble_since=None)
        return None
    if run.trouble_since is None:
        note(run, trouble_since=now)
        return None
    if now - run.trouble_since < timedelta(seconds=settings.RUN_IMAGE_RETRY_S):
        return None
    return Ending(seen.trouble, f"{seen.reason}: {seen.message}")


def _stuck(run: Run, seen: Seen, now: datetime) -> Ending | None:
    """A pod that is being deleted and does not go: its node is lost."""
    since = _moment(seen.terminating_since or "")
    if since is None or now - since < timedelta(seconds=STUCK_S):
        return None
    node = Node.objects.filter(cluster_id=run.cluster_id, name=run.node_name).first()
    if node is None:
        return Ending(
            "node-lost",
            sentence("Node {node_name} was removed from the cluster during the run.", node_name=run.node_name),
        )
    if node.ready is not True:
        return Ending(
            "node-lost",
            sentence(
                "Node {node_name} was lost during the run: {ready_reason}",
                node_name=run.node_name,
                ready_reason=node.ready_reason[:900],
            ),
        )
    return Ending(
        "pod-deleted", sentence("The pod was deleted, not by gpudash, and its node does not confirm the deletion.")
    )


def _check_deadline(run: Run, seen: Seen, look: Look) -> None:
    if not too_late(run, look.now):
        return
    told = f"{run.pending_reason}: {run.pending_message}".strip(": ")
    endings = {
        State.PENDING.value: Ending(
            "unschedulable",
            sentence(
                "No node accepted the pod within {run_schedule_timeout_s} s. {detail}",
                run_schedule_timeout_s=settings.RUN_SCHEDULE_TIMEOUT_S,
                detail=told,
            ),
        ),
        State.PULLING.value: Ending(
            "image",
            sentence(
                "The container did not start within {run_pull_timeout_s} s. {detail}",
                run_pull_timeout_s=settings.RUN_PULL_TIMEOUT_S,
                detail=told,
            ),
        ),
        State.RUNNING.value: Ending(
            "timeout", sentence("The run exceeded its deadline, and the cluster did not end its Job.")
        ),
    }
    _end(run, look, seen, endings.get(run.state, Ending("timeout", sentence("The run timed out."))), patient=False)


def _without_job(run: Run, pods: list[Pod], unreadable: bool, look: Look) -> None:
    """The Job is not in the list: asked for by name before it is believed."""
    if unreadable:
        note(run, last_error=UNREADABLE)
        if too_late(run, look.now):
            _end(run, look, None, Ending("unreadable", UNREADABLE), patient=False)
        return
    there = look.api.job(job_name(run.pk))
    if there is not None and there.metadata.uid == run.job_uid:
        return  # the list was not whole
    text = sentence("Job {job} was deleted before it finished, not by gpudash.", job=job_name(run.pk))
    newest = max(pods, key=lambda pod: pod.metadata.creationTimestamp or "", default=None)
    seen = observe(Job(), [newest]) if newest and (run.node_name or index_of(newest) == 0) else None
    _end(run, look, seen, Ending("job-deleted", text), patient=False)


def _end(run: Run, look: Look, seen: Seen | None, ending: Ending | None, patient: bool) -> None:
    """Log and verdict first, when the log is there; only then, at the end of the pass, the Job is deleted (`removal`)."""
    if collect.finish(run, look, seen, ending, patient):
        look.ended.append(run)


def _end_forged(run: Run, text: str, look: Look) -> None:
    """What ran was not what was posted: no log of it is read, and the Job goes away."""
    if end_run(run, run.state, ending=Ending("pod-changed", text).stored(), log_complete=False):
        look.ended.append(run)


def _not_ours(run: Run, look: Look) -> None:
    """Another launcher made the Job of this run: nothing of it is read or deleted, and the run ends in its time."""
    text = foreign(job_name(run.pk))
    note(run, last_error=text)
    if run.cancel_requested_at is not None or too_late(run, look.now):
        ending = cancelled_by(run.cancelled_by) if run.cancel_requested_at else Ending("job-of-other-launcher", text)
        end_run(run, run.state, ending=ending.stored(), log_complete=False, job_removed=True)
