"""What one pass has at hand: the cluster's calls, the moment, the reads of logs, the creations, and the Jobs that are ours."""

from __future__ import annotations

from datetime import datetime

import msgspec

from validations.lifecycle.cluster_api import ClusterApi
from validations.lifecycle.creations import Creations
from validations.lifecycle.logreads import LogReads
from validations.lifecycle.mine import Mine
from validations.models import Run


class Look(msgspec.Struct, frozen=True):
    """now: by the database's clock, read once when the pass began."""

    api: ClusterApi
    now: datetime
    logs: LogReads
    mine: Mine
    creations: Creations
    #: Runs that ended in this pass, and whose Job is to go away.
    ended: list[Run] = msgspec.field(default_factory=list)
