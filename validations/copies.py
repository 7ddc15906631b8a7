"""A database that is a copy of another, in words: for pages, REST, commands and metrics. Reads rows only."""

from __future__ import annotations

from typing import Any

from django.db.models import Count, Max

from audit.actions import Action
from audit.acts import act
from inventory.models import Cluster
from validations.models import Launcher, Run, State
from validations.models.run import said_of
from wording.said import restored, sentence

OTHER, AHEAD = "other", "ahead"
COPY_STATES = (OTHER, AHEAD)


def copy_words(launcher: Launcher) -> str:
    """Why nothing is launched, deleted or ended in this cluster: this database is a copy; "" when it is not."""
    if launcher.lock_state not in COPY_STATES:
        return ""
    if launcher.lock_state == OTHER:
        cause = sentence(
            "Another database ({lock_holder}) launches in this cluster. This database is a copy, or was moved.",
            lock_holder=launcher.lock_holder,
        )
    else:
        cause = sentence(
            "The lock object in the cluster is newer than this database. This database is a copy, or was "
            "restored from an old backup."
        )
    return sentence(
        "{cause} This database launches, deletes and ends nothing in the cluster. If the other database is "
        "permanently removed, run `gpudash cluster take-over {name}`.",
        cause=cause,
        name=launcher.cluster.name,
    )


def told(cluster: Cluster) -> list[str]:
    """What the launcher has to say of this cluster: that this database is a copy, and how many Jobs cannot be deleted."""
    launcher = Launcher.objects.filter(cluster=cluster).select_related("cluster").first()
    if launcher is None:
        return []
    return [text for text in (copy_words(launcher), left_words(launcher)) if text]


def left_words(launcher: Launcher) -> str:
    """How many Jobs of ended runs stay in the cluster, and why the last of them does; "" for none."""
    left = Run.objects.filter(cluster_id=launcher.cluster_id, state=State.ENDED, job_removed=False).exclude(
        last_error=""
    )
    counted = left.aggregate(count=Count("pk"), last=Max("pk"))
    strays = [_why_stray(entry) for entry in launcher.strays.values() if entry[2]]
    count = counted["count"] + len(strays)
    if not count:
        return ""
    last = left.filter(pk=counted["last"]).only("last_error", "wordings").first()
    why = restored(last.last_error, said_of(last, "last_error")) if last is not None else strays[0]
    jobs = (
        sentence("1 Job to be deleted remains")
        if count == 1
        else sentence("{count} Jobs to be deleted remain", count=count)
    )
    return sentence("{jobs} in the cluster. {why}", jobs=jobs, why=why)


def _why_stray(entry: list[Any]) -> str:
    """Of an entry of `Launcher.strays`."""
    return restored(str(entry[2]), entry[3])


def take_over(cluster: Cluster) -> str:
    """This database becomes the launcher with its next pass, also of the Jobs that the one before made. What was done, in words."""
    with act(Action.CLUSTER_TAKE_OVER, cluster.name):
        Launcher.objects.get_or_create(cluster=cluster)
        Launcher.objects.filter(cluster=cluster).update(take_over=True, next_try_at=None, swept_at=None)
    return sentence("this database launches here from the next pass of a launch worker and adopts the existing Jobs")
