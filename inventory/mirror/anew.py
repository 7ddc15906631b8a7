"""To have everything of a kind listed anew: its lease is taken away and its resource version forgotten, in one update.

Works from any process: who watches sees with its next write that the lease is lost, and the next holder begins with a list. The
reconciler is asked in the same way and begins with all nodes.
"""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.db.models import F, QuerySet
from django.db.models.functions import Now

from audit.actions import Action
from audit.acts import act
from inventory.models import Cluster, Watch
from inventory.models.cluster import Kind, WatchState
from kube.identity import Identity
from wording.said import sentence, stored

PUT_BACK = sentence("the database was restored to an earlier state")
RECREATED = sentence("another cluster responds at this address")


def anew(reason: str) -> dict[str, Any]:
    """The columns of a watch that is to begin anew."""
    return {
        "resource_version": "",
        "holder": "",
        "expires_at": Now(),
        "token": F("token") + 1,
        "epoch": F("epoch") + 1,
        "state": WatchState.WAITING,
        "state_since": Now(),
        "reason": "",
        "relist_reason": reason[:200],
        "relist_wording": stored(reason, 200),
    }


def relist(cluster: Cluster, who: str) -> list[str]:
    """Ask each watcher of the cluster to list anew and the reconciler to count all. Returns the kinds that were asked."""
    rows: QuerySet[Watch] = Watch.objects.filter(cluster=cluster)
    with act(Action.CLUSTER_RELIST, cluster.name):
        rows.update(**anew(sentence("requested by {who}", who=who)), relist_requested_at=Now())
    there = set(rows.values_list("kind", flat=True))
    return [kind for kind in Kind.values if kind in there]


def recognise(cluster_id: int, found: Identity) -> bool:
    """Note which cluster answers. True when it is another than before: all its kinds are then to begin anew."""
    row = Cluster.objects.filter(pk=cluster_id)
    known = row.values_list("uid", "uid_note").first()
    if known is None or known == (found.uid, found.note):
        return False
    if not found.uid or not known[0] or found.uid == known[0]:
        row.update(uid=found.uid or known[0], uid_note=found.note, uid_wording=stored(found.note))
        return False
    with transaction.atomic():  # of several watchers that see it at once, one has it all listed anew
        if row.filter(uid=known[0]).update(uid=found.uid, uid_note="", recreated_at=Now()) == 1:
            Watch.objects.filter(cluster_id=cluster_id).update(**anew(RECREATED))
    return True
