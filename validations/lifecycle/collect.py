"""The log of a run: new bytes while it runs, the whole at its end; then the verdict; then the Job goes away, in this order."""

from __future__ import annotations

from typing import Any

import msgspec
from django.conf import settings
from django.db import transaction

from kube.client import ApiError
from validations import attribution, logstore
from validations.lifecycle.end import end_run
from validations.lifecycle.endings import Ending
from validations.lifecycle.logreads import Wanted
from validations.lifecycle.look import Look
from validations.lifecycle.observe import Seen
from validations.lifecycle.refusals import refusal
from validations.models import Run
from validations.suites.engine.manifest import job_name
from wording.said import of_error, sentence

#: New bytes that one look takes at most; a chatty run is caught up with over several looks.
LIVE_BYTES = 256 << 10
#: As much of the start of the log is compared, to see whether it is still the same log.
KNOWN = 1024


def _silent(run: Run, error: ApiError) -> str:
    return sentence(
        "Cannot read the log from node {node}: {error}. gpudash will retry.",
        node=run.node_name,
        error=of_error(error),
    )


def follow_log(run: Run, look: Look) -> str | None:
    """Store the new bytes of a running container's log, as long as the head has room. Errors wait for the next look.

    Returns why the log cannot be had, "" when it can; None while nothing is known yet.
    """
    room, pod = min(logstore.room(run), LIVE_BYTES), own_pod(run, run.pod_name)
    if not room or not pod or run.log_read != run.log_stored:
        return ""
    try:
        came = look.logs.ask(run, _wanted(run, pod, room, 0, whole=False))
    except ApiError as error:
        told = refusal(error, look.api.namespace)
        return told.text if told else _silent(run, error) if not error.status else ""
    if came is None:
        return None
    if came.same and came.data:
        with transaction.atomic():
            logstore.append(run, came.data, len(came.data))
    return ""


def _wanted(run: Run, pod: str, head: int, tail: int, *, whole: bool, ended: bool = False, uid: str = "") -> Wanted:
    known = logstore.start(run, KNOWN)
    return Wanted(run.cluster_id, run.node_name, pod, run.log_read, known, head, tail, whole, ended, uid)


def own_pod(run: Run, name: str) -> str:
    """The pod's name when the Job of this run can have made it, else "": no other pod's log is read for a run."""
    return name if name.startswith(f"{job_name(run.pk)}-") else ""


def finish(run: Run, look: Look, seen: Seen | None, ending: Ending | None, patient: bool) -> bool:
    """Fetch the rest of the log, judge, store. False: the log is still on its way. patient: it is tried again when it cannot be had.

    Raises Moved when another process was first, and ApiError where it is to be tried again.
    """
    ending = ending or _elsewhere(run, seen)
    rest = _rest(run, look, seen, patient)
    if rest is None:
        return False
    columns = _columns(run, seen, ending or rest.refused or strange(seen), rest.complete)
    # A group took cards of several nodes: its result is of none of them.
    took = attribution.taken(run, seen.pod if seen else None) if run.node_name else None
    if not end_run(run, run.state, took, rest.data, rest.read, log_left_out=rest.left_out, **columns):
        raise logstore.Moved(run.pk)
    return True


def _elsewhere(run: Run, seen: Seen | None) -> Ending | None:
    """Two nodes with one host name: what ran on the other says nothing of this one."""
    spec = seen.pod.spec if seen is not None and seen.pod is not None else None
    if spec is None or not spec.nodeName or spec.nodeName in (run.group or (run.node_name,)):
        return None
    text = sentence(
        "The pod ran on node {actual}, not on {requested}: both have the same label kubernetes.io/hostname.",
        actual=spec.nodeName,
        requested=run.node_name or ", ".join(run.group),
    )
    return Ending("wrong-node", text)


class _Rest(msgspec.Struct, frozen=True):
    """What is still to be stored of a log. complete: it was read to its end. refused: why the cluster did not give it."""

    complete: bool
    data: bytes = b""
    read: int = 0
    left_out: int | None = None
    refused: Ending | None = None


def _rest(run: Run, look: Look, seen: Seen | None, patient: bool) -> _Rest | None:
    """The log's rest; None while it is on its way. A container that never started has an empty log."""
    pod = own_pod(run, seen.pod_name if seen and seen.pod_name else run.pod_name)
    if not pod:
        return _Rest(run.log_stored == 0)
    ended = seen is not None and seen.terminated is not None
    tail = int(settings.RUN_LOG_TAIL_BYTES)
    try:
        uid = (seen.pod_uid if seen else "") or run.pod_uid
        came = look.logs.ask(run, _wanted(run, pod, logstore.room(run), tail, whole=True, ended=ended, uid=uid))
    except ApiError as error:
        if error.status == 400 and not run.log_stored and not ended:
            return _Rest(True)
        if error.status in (400, 404) or not patient:
            return _Rest(False, refused=refusal(error, look.api.namespace))
        raise
    if came is None:
        return None if patient or not look.logs.left_alone(run) else _Rest(False)
    data = came.data if came.same else logstore.ROTATED + came.data
    return _Rest(came.same, data, came.total, came.left_out)


def _columns(run: Run, seen: Seen | None, ending: Ending | None, complete: bool) -> dict[str, Any]:
    found: dict[str, Any] = {"log_complete": complete, "ending": ending.stored() if ending else []}
    found |= {"pending_reason": "", "pending_message": ""}
    if seen is not None:
        ended = seen.terminated
        found |= {
            "exit_code": _fitting(ended.exitCode, 32) if ended else None,
            "signal": _fitting(ended.signal or None, 31) if ended else None,
            "end_reason": _reason(seen)[:128].replace("\0", ""),
        }
        found |= where(run, seen)
    return found


def _fitting(number: int | None, bits: int) -> int | None:
    """A number of the container's status (int32; exit codes of Windows may come without their sign); None for another."""
    return number if number is not None and -(2**31) <= number < 2**bits else None


def strange(seen: Seen | None) -> Ending | None:
    """A status that no container can have is not believed, and nothing is passed by it."""
    ended = seen.terminated if seen is not None else None
    told = (("exit code", ended.exitCode, 32), ("signal", ended.signal, 31)) if ended else ()
    wrong = [f"{name} {it}" for name, it, bits in told if it is not None and _fitting(it, bits) is None]
    if not wrong:
        return None
    return Ending(
        "invalid-container-status",
        sentence("The cluster reports an invalid container status: {names}.", names=", ".join(wrong)[:200]),
    )


def _reason(seen: Seen) -> str:
    """The pod's own reason tells more than the container's "Error"."""
    if seen.pod_reason and seen.pod_reason != "Completed":
        return seen.pod_reason
    return (seen.terminated.reason or "") if seen.terminated else ""


def where(run: Run, seen: Seen) -> dict[str, str]:
    """Pod and image as they are known now; what is known is never forgotten."""
    return {
        "pod_name": _storable(seen.pod_name or run.pod_name, 253),
        "pod_uid": _storable(seen.pod_uid or run.pod_uid, 128),
        "image_digest": _storable(seen.image_digest or run.image_digest, 512),
    }


def _storable(text: str, most: int) -> str:
    return text[:most].replace("\0", "")
