"""Containers of workloads that failed, kept with their node: from two states of a pod. One writer: the watcher of pods.

A container that ends as its pod is deleted did not fail, nor one that was asked to end (143). Of many failures of one container only
those are kept that its pod still reports: the current end and the last before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import msgspec

from inventory.mirror.values import Columns, moment, plain
from inventory.models import PodFailure
from kube.decoders import decoder
from kube.objects import Pod, Terminated
from runtime import bulk
from runtime.clock import database_now

#: Facts without it tell of no end.
NOTED = '"exitCode"'
#: Exit code of a process that SIGTERM ended.
_ASKED = 143
_MOST_CODE = 2**31
_COLUMNS = (
    *("cluster_id", "node_name", "pod_uid", "namespace", "pod", "owner_kind", "owner_name"),
    *("container", "exit_code", "reason", "at"),
)
_pod = decoder(Pod)


class Failed(NamedTuple):
    """finished: as the API writes it; "" where it does not."""

    container: str
    exit_code: int
    reason: str
    finished: str


def failures(pod: Pod) -> set[Failed]:
    """Those that a trimmed pod reports. Pure."""
    return set() if pod.metadata.deletionTimestamp else set(_failures(pod))


def _failures(pod: Pod) -> Iterator[Failed]:
    for one in (pod.status.containerStatuses if pod.status else None) or ():
        for state in (one.state, one.lastState):
            end: Terminated | None = state.terminated if state is not None else None
            if end is not None and end.exitCode not in (None, 0, _ASKED) and abs(end.exitCode or 0) < _MOST_CODE:
                yield Failed(one.name, end.exitCode or 0, end.reason or "", end.finishedAt or "")


def note(cluster_id: int, before: Mapping[str, str], after: Mapping[str, Columns]) -> None:
    """Write the failures that a pod did not report before. before: uid → facts as they are stored; after: uid → new columns.

    One query at most. Inside the caller's transaction.
    """
    rows = []
    for uid, facts in before.items():
        new = after[uid]
        if new["component"] or not new["node_name"]:
            continue
        for one in sorted(_new(facts, new["facts"])):
            at = moment(one.finished) or database_now()
            own = (new["node_name"], uid, new["namespace"], new["name"], new["owner_kind"], new["owner_name"])
            rows.append((cluster_id, *own, plain(one.container, 253), one.exit_code, plain(one.reason, 128), at))
    if rows:
        bulk.insert(PodFailure, _COLUMNS, rows)


def _new(before: str, after: str) -> set[Failed]:
    try:
        return failures(_pod.decode(after)) - failures(_pod.decode(before))
    except (msgspec.MsgspecError, ValueError):  # the stored facts cannot be read
        return set()
