"""What the credentials of a cluster may do, asked of the cluster by whoever holds them, and kept on the cluster's row.

The watchers' are a watch worker's, the launcher's a launch worker's: no process needs both. A command asks with what it can read.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec
from django.db import transaction
from django.utils import timezone

from inventory import clusters
from inventory.mirror.kinds import KINDS
from inventory.mirror.served import is_served
from inventory.models import Cluster
from inventory.models.cluster import OPTIONAL_KINDS
from inventory.permissions import not_served
from inventory.wanted import LAUNCHER, QUARANTINE, WATCHER, Wanted
from kube.client import ApiError, BadKubeconfig, Client
from kube.credentials import PATIENCE_S
from kube.decoders import decoder
from wording.said import stored

#: Seconds for all questions of a check together, where a worker asks; and where a person waits for the answer.
CHECK_S, CHECK_PATIENTLY_S = 20.0, 90.0
QUESTION_S = 10.0
#: For a question of discovery, which an API server answers from memory.
SERVED_S = 3.0


class Answer(msgspec.Struct, frozen=True):
    """What a cluster said of one permission. allowed None: it could not be asked. served: False where there is nothing to permit."""

    wanted: Wanted
    allowed: bool | None
    reason: str = ""
    served: bool = True

    @property
    def rule(self) -> str:
        """What is missing in the watchers' role; "" where nothing is."""
        return self.wanted.rule if self.allowed is False and self.wanted.optional else ""


class _Allowed(msgspec.Struct):
    allowed: bool
    reason: str | None = None


class _Review(msgspec.Struct):
    """A SelfSubjectAccessReview, answered."""

    status: _Allowed


class _Budget:
    """What is left of a check's time."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self._until = seconds, time.monotonic() + seconds

    @property
    def left_s(self) -> float:
        """For the next question; 0 when the time is over."""
        return min(max(self._until - time.monotonic(), 0.0), QUESTION_S)


class Checked(msgspec.Struct, frozen=True):
    """What a check found. version: of the server. note: why the launcher's part is what was known before, "" where it was asked."""

    version: str
    answers: list[Answer]
    note: str = ""


def check(cluster: Cluster, total_s: float = CHECK_S, patience_s: float = PATIENCE_S) -> Checked:
    """What both credentials may do, for a command; kept on the cluster's row. Raises ApiError and BadKubeconfig.

    Where the launcher's file cannot be read here, what the launch worker found last is told and kept: the file may be for it alone.
    It takes no longer than about total_s; what could not be asked by then is not known. patience_s: for a credential plugin.
    """
    budget = _Budget(total_s)
    version, answers = _ask_as_watcher(cluster, budget, patience_s)
    _keep(cluster, answers, permissions_checked_at=timezone.now())
    try:
        mine, note = _ask_as_launcher(cluster, budget, patience_s), ""
    except BadKubeconfig as error:
        return Checked(version, answers + _known(cluster, str(error)), str(error))
    _keep(cluster, mine, launcher_checked_at=timezone.now())
    return Checked(version, [*answers, *mine, *check_quarantine(cluster)], note)


def check_new(client: Client) -> list[Answer]:
    """Of credentials that no cluster has yet: what is needed of them in any case. Raises ApiError where the cluster does not say."""
    budget = _Budget(CHECK_S)
    _version(client, budget)
    return [_review(client, one, budget) for one in clusters.READER if not one.optional]


def check_watcher(cluster: Cluster) -> None:
    """What the watchers' credentials may do, asked by a watch worker and kept. Raises ApiError and BadKubeconfig."""
    _, answers = _ask_as_watcher(cluster, _Budget(CHECK_S), PATIENCE_S)
    _keep(cluster, answers, permissions_checked_at=timezone.now())


def check_launcher(cluster: Cluster) -> list[Answer]:
    """The same of the launcher's, where its file is: by a launch worker. Where it cannot be read or used, that is the answer."""
    try:
        answers = _ask_as_launcher(cluster, _Budget(CHECK_S), PATIENCE_S)
    except BadKubeconfig as error:
        answers = [Answer(one, None, str(error)) for one in _of_launcher(cluster)]
    _keep(cluster, answers, launcher_checked_at=timezone.now())
    return answers


def check_quarantine(cluster: Cluster) -> list[Answer]:
    """The same of those that mark nodes; nothing where gpudash marks none."""
    asked = [one for one in clusters.wanted(cluster) if one.account == QUARANTINE]
    if not asked:
        return []
    budget = _Budget(CHECK_S)
    try:
        client = Client(*clusters.quarantine_source(cluster))
        try:
            answers = [_ask(client, one, budget) for one in asked]
        finally:
            client.close()
    except BadKubeconfig as error:
        answers = [Answer(one, None, str(error)) for one in asked]
    _keep(cluster, answers, quarantine_checked_at=timezone.now())
    return answers


def _keep(cluster: Cluster, answers: Sequence[Answer], **moments: datetime) -> None:
    """Put them among what is known. Two processes ask, each for its own credentials: neither writes over the other's answers."""
    new = {_key(one.wanted): _row(one) for one in answers}
    with transaction.atomic():
        row = Cluster.objects.select_for_update().filter(pk=cluster.pk).first()
        if row is None:
            return  # removed meanwhile
        known = _stored(row) | new
        cluster.permissions = [known[key] for key in map(_key, clusters.wanted(cluster)) if key in known]
        Cluster.objects.filter(pk=cluster.pk).update(permissions=cluster.permissions, server=cluster.server, **moments)
    for name, moment in moments.items():
        setattr(cluster, name, moment)


def _key(one: Wanted) -> tuple[str, str, str]:
    return one.verb, one.full_resource, one.needed_for


def _row(answer: Answer) -> dict[str, Any]:
    return {
        "verb": answer.wanted.verb,
        "resource": answer.wanted.full_resource,
        "allowed": answer.allowed,
        "needed_for": answer.wanted.needed_for,
        "needed_wording": stored(answer.wanted.needed_for),
        "optional": answer.wanted.optional,
        "served": answer.served,
        "rule": answer.rule,
        "rule_wording": stored(answer.rule),
    }


def _stored(cluster: Cluster) -> dict[tuple[str, str, str], dict[str, Any]]:
    rows = cluster.permissions if isinstance(cluster.permissions, list) else []
    return {
        (str(one.get("verb")), str(one.get("resource")), str(one.get("needed_for"))): one
        for one in rows
        if isinstance(one, dict)
    }


def _of_launcher(cluster: Cluster) -> list[Wanted]:
    return [one for one in clusters.wanted(cluster) if one.account == LAUNCHER]


def _known(cluster: Cluster, why: str) -> list[Answer]:
    stored = _stored(cluster)
    return [Answer(one, stored.get(_key(one), {}).get("allowed"), why) for one in _of_launcher(cluster)]


def _ask_as_watcher(cluster: Cluster, budget: _Budget, patience_s: float) -> tuple[str, list[Answer]]:
    asked = [one for one in clusters.wanted(cluster) if one.account == WATCHER]
    client = clusters.client_of(cluster, patience_s)
    try:
        version = _version(client, budget)
        answers = [_ask(client, one, budget) for one in asked]
        absent = _absent(client, cluster, budget)
    finally:
        client.close()
    cluster.server = client.server
    return version, [_not_served(one) if one.wanted.kind in absent else one for one in answers]


def _absent(client: Client, cluster: Cluster, budget: _Budget) -> set[str]:
    """Kinds that the cluster does not have, asked of it: a cluster that was just added has no watcher yet that would know.

    Where it does not say in time, what the watchers found counts.
    """
    known = not_served(cluster)
    for kind in OPTIONAL_KINDS:
        if kind in KINDS and budget.left_s:
            try:
                served = is_served(kind, client, min(SERVED_S, budget.left_s))
            except ApiError:
                break
            known = known - {kind.value} if served else known | {kind.value}
    return known


def _ask_as_launcher(cluster: Cluster, budget: _Budget, patience_s: float) -> list[Answer]:
    client = Client(*clusters.launcher_source(cluster), patience_s)
    try:
        return [_ask(client, one, budget) for one in _of_launcher(cluster)]
    finally:
        client.close()


def _version(client: Client, budget: _Budget) -> str:
    try:
        version = msgspec.json.decode(client.get("/version", timeout_s=budget.left_s))
    except (msgspec.DecodeError, RecursionError):
        raise ApiError(0, "NotKubernetes", f"{client.server} responds, but not as a Kubernetes API server") from None
    name = version.get("gitVersion") if isinstance(version, dict) else None
    return str(name or "version unknown")[:64]


def _not_served(answer: Answer) -> Answer:
    """There is nothing to permit."""
    return Answer(answer.wanted, None, "API not available", served=False)


def _ask(client: Client, wanted: Wanted, budget: _Budget) -> Answer:
    if not budget.left_s:
        return Answer(
            wanted, None, f"not checked: the cluster did not respond to all requests within {budget.seconds:.0f} s"
        )
    try:
        return _review(client, wanted, budget)
    except ApiError as error:
        return Answer(wanted, None, str(error))


def _review(client: Client, wanted: Wanted, budget: _Budget) -> Answer:
    """Raises ApiError."""
    resource, _, subresource = wanted.resource.partition("/")
    attributes = {"verb": wanted.verb, "group": wanted.group, "resource": resource, "subresource": subresource}
    if wanted.name:
        attributes["name"] = wanted.name
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": attributes | {"namespace": wanted.namespace}},
    }
    path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
    body = client.send("POST", path, msgspec.json.encode(review), timeout_s=budget.left_s)
    try:
        status = decoder(_Review).decode(body).status
    except (msgspec.DecodeError, RecursionError):
        return Answer(wanted, None, "the response was not an access review")
    return Answer(wanted, status.allowed, (status.reason or "")[:1000])
