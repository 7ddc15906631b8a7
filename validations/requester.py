"""May who asked for a run still have it launched? Asked by the worker, long after the request.

A person may have been deactivated, deleted or given another role or scope meanwhile. Permissions are Django's, as for the pages,
for a cluster too; what a command on the host asked for has no person.
"""

from __future__ import annotations

from typing import Any

from inventory.models import Cluster
from wording.said import sentence

LAUNCH = "validations.add_run"


def gone(user: Any, name: str, cluster: Cluster | None = None) -> str:
    """Why not, in words; "" when they may. user: None for nobody, or for an account that was deleted; name: as it was then.

    cluster: where it would be launched; None: anywhere.
    """
    if user is None:
        return sentence("The account of the requester {name} no longer exists.", name=name) if name else ""
    if not user.is_active:
        return sentence("The account of the requester {name} was deactivated.", name=name)
    if not user.has_perm(LAUNCH):
        return sentence(
            "The requester {name} no longer has permission to launch: the role operator or admin is required.",
            name=name,
        )
    if cluster is not None and not user.has_perm(LAUNCH, cluster):
        return sentence(
            "The requester {name} no longer has permission to launch in cluster {cluster}.",
            name=name,
            cluster=cluster.name,
        )
    return ""
