"""The log of a run: new bytes while it runs, the whole at its end; then the verdict; then the Job goes away, in this order."""

from __future__ import annotations

from typing import Any

import msgspec
from django.conf import settings
from django.db import transaction

from inventory.kube.client import ApiError
from validations import attribution, logstore
from validations.lifecycle.cluster_api import ClusterApi
from validations.lifecycle.endings import Ending
from validations.lifecycle.refusals import refusal
from validations.lifecycle.watching import Seen
from validations.models import Run
from validations.results import end_run
from validations.suites.manifest import job_name

#: New bytes that one look takes at most; a chatty run is caught up with over several looks.
LIVE_BYTES = 256 << 10
#: As much of the start of the log is compared, to see whether it is still the same log.
KNOWN = 1024


def follow_log(run: Run, api: ClusterApi) -> str:
    """Store the new bytes of a running container's log, as long as the head has room. Errors wait for the next look.

    Returns why the cluster refuses the log, "" when it does not.
    """
    room, pod = min(logstore.room(run), LIVE_BYTES), own_pod(run, run.pod_name)
    if not room or not pod or run.log_read != run.log_stored:
        return ""
    keeper = logstore.Keeper(room, 0)
    try:
        with api.log(pod, limit_bytes=run.log_read + room) as stream:
            same = logstore.feed_after(stream.chunks(), run.log_read, keeper, logstore.start(run, KNOWN))
    except ApiError as error:
        told = refusal(error, api.namespace)
        return told.text if told else ""
    new, _ = keeper.kept()
    if same and new:
        with transaction.atomic():
            logstore.append(run, new, len(new))
    return ""


def own_pod(run: Run, name: str) -> str:
    """The pod's name when the Job of this run can have made it, else "": no other pod's log is read for a run."""
    return name if name.startswith(f"{job_name(run.pk)}-") else ""


def finish(run: Run, api: ClusterApi, seen: Seen | None, ending: Ending | None, patient: bool) -> None:
    """Fetch the rest of the log, judge, store. patient: raise ApiError when the log cannot be had now, to try again.

    Raises Moved when another process was first.
    """
    ending = ending or _elsewhere(run, seen)
    rest = _rest(run, api, seen, patient)
    columns = _columns(run, seen, ending or rest.refused, rest.complete)
    with transaction.atomic():
        logstore.append(run, rest.data, rest.read)
        took = attribution.taken(run, seen.pod if seen else None)
        if not end_run(run, run.state, took, log_left_out=rest.left_out, **columns):
            raise logstore.Moved(run.pk)


def _elsewhere(run: Run, seen: Seen | None) -> Ending | None:
    """Two nodes with one host name: what ran on the other says nothing of this one."""
    spec = seen.pod.spec if seen is not None and seen.pod is not None else None
    if spec is None or not spec.nodeName or spec.nodeName == run.node_name:
        return None
    text = (
        f"The pod ran on node {spec.nodeName}, not on {run.node_name}: both have the same label kubernetes.io/hostname."
    )
    return Ending("wrong-node", text)


class _Rest(msgspec.Struct, frozen=True):
    """What is still to be stored of a log. complete: it was read to its end. refused: why the cluster did not give it."""

    complete: bool
    data: bytes = b""
    read: int = 0
    left_out: int | None = None
    refused: Ending | None = None


def _rest(run: Run, api: ClusterApi, seen: Seen | None, patient: bool) -> _Rest:
    """The log's rest. A container that never started has an empty log."""
    pod = own_pod(run, seen.pod_name if seen and seen.pod_name else run.pod_name)
    if not pod:
        return _Rest(run.log_stored == 0)
    keeper = logstore.Keeper(logstore.room(run), int(settings.RUN_LOG_TAIL_BYTES))
    try:
        with api.log(pod) as stream:
            same = logstore.feed_after(stream.chunks(), run.log_read, keeper, logstore.start(run, KNOWN))
    except ApiError as error:
        if error.status == 400 and not run.log_stored and (seen is None or seen.terminated is None):
            return _Rest(True)
        if error.status in (400, 404) or not patient:
            return _Rest(False, refused=refusal(error, api.namespace))
        raise
    data, left_out = keeper.kept()
    return _Rest(same, data if same else logstore.ROTATED + data, keeper.total, left_out)


def _columns(run: Run, seen: Seen | None, ending: Ending | None, complete: bool) -> dict[str, Any]:
    found: dict[str, Any] = {"log_complete": complete, "ending": ending.stored() if ending else []}
    found |= {"waiting_reason": "", "waiting_message": ""}
    if seen is not None:
        ended = seen.terminated
        found |= {
            "exit_code": ended.exitCode if ended else None,
            "signal": (ended.signal or None) if ended else None,
            "end_reason": _reason(seen)[:128].replace("\0", ""),
        }
        found |= where(run, seen)
    return found


def _reason(seen: Seen) -> str:
    """The pod's own reason tells more than the container's "Error"."""
    if seen.pod_reason and seen.pod_reason != "Completed":
        return seen.pod_reason
    return (seen.terminated.reason or "") if seen.terminated else ""


def where(run: Run, seen: Seen) -> dict[str, str]:
    """Pod and image as they are known now; what is known is never forgotten."""
    return {
        "pod_name": (seen.pod_name or run.pod_name)[:253],
        "pod_uid": (seen.pod_uid or run.pod_uid)[:128],
        "image_digest": (seen.image_digest or run.image_digest)[:512],
    }
