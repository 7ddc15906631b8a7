"""What was decided in the demo about cards with confirmed failures: one is out of service and waits for its pass, the newest
recommendations wait for a decision, the others were kept in service. The launch worker marks the simulated node, as a real one.
"""

from __future__ import annotations

from contextlib import suppress

from django.contrib.auth.models import User

from inventory.models import Cluster
from quarantine import manage
from quarantine.failures import confirmed
from quarantine.models import Case, CaseState
from quarantine.recommend import recommend
from runtime.clock import database_now
from validations.planning import Refused

NOTE, KEPT = "Second failure this week", "Known, a new card is ordered"
#: Recommendations that wait for a decision.
OPEN = 2


def make(cluster: Cluster, user: User) -> None:
    """Nothing where there is no confirmed failure, or somebody has decided already."""
    recommend(confirmed(cluster.pk), database_now())
    cases = Case.objects.filter(cluster=cluster).select_related("cluster")
    if cases.exclude(state=CaseState.RECOMMENDED).exists():
        return
    first, *others = cases.order_by("run_id") or (None,)
    with suppress(Refused):
        if first is not None:
            manage.accept(first, user, note=NOTE)
        for case in others[:-OPEN]:
            manage.decline(case, user, note=KEPT)
