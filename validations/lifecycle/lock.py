"""The lock object in the cluster: which database launches there. A copy of the database finds another holder, or a later epoch.

A coordination.k8s.io/v1 Lease in the namespace of the Jobs, named by the installation. holderIdentity: the maker; leaseTransitions:
an epoch that is raised with each renewal, with the resource version as the condition. The row says the new epoch before the object
does, so a process that dies in between is not behind. Whoever finds a later epoch than its row knows of is a copy, or an old backup.
"""

from __future__ import annotations

import time
from datetime import datetime
from typing import Any
from urllib.parse import quote

import msgspec

from inventory import stated
from inventory.catalogue import CATALOGUE
from inventory.models import Finding
from kube.client import ApiError
from kube.decoders import decoder
from runtime.leases.lease import Lease
from validations.copies import AHEAD, COPY_STATES, OTHER, copy_words
from validations.declared import LAUNCHER_COPY as FINDING
from validations.lifecycle.cluster_api import ClusterApi
from validations.models import Launcher

#: At most so often is the object renewed by one process, and only while there is work.
RENEW_S = 60.0
#: A later epoch of our own that nobody has raised for so long was ours: a backup was put back in its place.
UNCHANGED_S = 600.0
OURS, NOT_ALLOWED = "ours", "not-allowed"
#: States in which nothing is launched, deleted or ended.
COPIES = COPY_STATES

#: By cluster: the epoch that this process wrote or read, and when (monotonic).
_renewed: dict[int, tuple[int, float]] = {}
#: By cluster: a later epoch that was seen, and since when.
_ahead: dict[int, tuple[str, float]] = {}


class _Metadata(msgspec.Struct):
    name: str = ""
    resourceVersion: str = ""


class _Spec(msgspec.Struct):
    holderIdentity: str | None = None
    leaseTransitions: int | None = None


class LockObject(msgspec.Struct):
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)
    spec: _Spec = msgspec.field(default_factory=_Spec)

    @property
    def epoch(self) -> int:
        return self.spec.leaseTransitions or 0


def lock_name(instance: str) -> str:
    return f"gpudash-launcher-{instance}"


def hold(lease: Lease, launcher: Launcher, api: ClusterApi, me: str, now: datetime) -> str:
    """Whether we are the launcher of this cluster: the new `lock_state`, which the row then has too. Raises ApiError, LeaseLost."""
    cluster = launcher.cluster_id
    if held(launcher, me):
        return launcher.lock_state
    try:
        state = _look(lease, launcher, api, me, now)
    except ApiError as error:
        if error.status != 403:
            raise
        state = _put(lease, launcher, NOT_ALLOWED, me, now)
    if state not in COPIES:
        _ahead.pop(cluster, None)
        _renewed[cluster] = (launcher.lock_epoch, time.monotonic())
    return state


def held(launcher: Launcher, me: str) -> bool:
    """Whether this process has seen not long ago that we are the launcher."""
    known = _renewed.get(launcher.cluster_id)
    fresh = known is not None and known[0] <= launcher.lock_epoch and time.monotonic() - known[1] < RENEW_S
    return fresh and launcher.lock_state not in COPIES and launcher.lock_holder == me and not launcher.take_over


def _look(lease: Lease, launcher: Launcher, api: ClusterApi, me: str, now: datetime) -> str:
    there = _get(api)
    if there is None:
        return _write(lease, launcher, api, me, now, None)
    holder = there.spec.holderIdentity or ""
    if launcher.take_over:
        makers = [one for one in dict.fromkeys([*launcher.makers, holder]) if one and one != me]
        lease.update(makers=makers[-20:], take_over=False)
        launcher.makers, launcher.take_over = makers[-20:], False
        return _write(lease, launcher, api, me, now, there)
    if holder and holder != me:
        return _put(lease, launcher, OTHER, holder, now)
    if there.epoch > launcher.lock_epoch and not _forgotten(launcher.cluster_id, there):
        return _put(lease, launcher, AHEAD, holder, now)
    return _write(lease, launcher, api, me, now, there)


def _forgotten(cluster_id: int, there: LockObject) -> bool:
    """Whether nobody has raised this epoch for a long time, as this process saw it: the clocks of others say nothing."""
    version = f"{there.metadata.resourceVersion}/{there.epoch}"
    seen = _ahead.get(cluster_id)
    if seen is None or seen[0] != version:
        _ahead[cluster_id] = (version, time.monotonic())
        return False
    return time.monotonic() - seen[1] >= UNCHANGED_S


def _put(lease: Lease, launcher: Launcher, state: str, holder: str, now: datetime, **more: Any) -> str:
    if (launcher.lock_state, launcher.lock_holder) != (state, holder):
        more |= {"lock_state": state, "lock_holder": holder[:128].replace("\0", ""), "lock_since": now}
    if more:
        lease.update(**more)
    for name, value in more.items():
        setattr(launcher, name, value)
    if "lock_state" in more:
        _find(launcher, now)
    return state


def _find(launcher: Launcher, now: datetime) -> None:
    """The finding begins and ends with the state."""
    open_now = Finding.objects.filter(cluster_id=launcher.cluster_id, code=FINDING, node_name="", ended_at=None)
    text = copy_words(launcher)
    if not text:
        open_now.update(ended_at=now)
    elif not open_now.update(**stated.columns(text)):
        where = {"cluster_id": launcher.cluster_id, "code": FINDING, "node_name": "", "card_key": "", "pod": ""}
        defaults = {"severity": CATALOGUE[FINDING].severity, "first_seen_at": now, **stated.columns(text)}
        Finding.objects.get_or_create(**where, ended_at=None, defaults=defaults)


def _write(lease: Lease, launcher: Launcher, api: ClusterApi, me: str, now: datetime, there: LockObject | None) -> str:
    """Renew, make or take the object. Of two who write at once one gets a 409, and looks again with its next pass."""
    epoch = max(launcher.lock_epoch, there.epoch if there else 0) + 1
    state = _put(lease, launcher, OURS, me, now, lock_epoch=epoch)
    moment = now.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    name = lock_name(api.instance)
    metadata = {"name": name, "namespace": api.namespace, "labels": {"app.kubernetes.io/managed-by": "gpudash"}}
    spec = {"holderIdentity": me, "leaseTransitions": epoch, "renewTime": moment, "leaseDurationSeconds": 600}
    if there is not None:
        metadata["resourceVersion"] = there.metadata.resourceVersion
    body = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": metadata, "spec": spec}
    try:
        api.send("PUT" if there else "POST", _path(api, name if there else ""), body)
    except ApiError as error:
        # Without its namespace the object cannot be made, and no Job either: the run says so. A server may know no Leases.
        if there is not None or error.status not in (404, 405, 501):
            error.call = "update leases" if there else "create leases"
            raise
    return state


def _get(api: ClusterApi) -> LockObject | None:
    try:
        body = api.get(_path(api, lock_name(api.instance)))
        return decoder(LockObject).decode(body)
    except ApiError as error:
        if error.status == 404:
            return None
        error.call = "get leases"
        raise
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise ApiError(0, "Strange", "the lock object cannot be read") from None


def _path(api: ClusterApi, name: str) -> str:
    path = f"/apis/coordination.k8s.io/v1/namespaces/{quote(api.namespace, safe='')}/leases"
    return f"{path}/{name}" if name else path
