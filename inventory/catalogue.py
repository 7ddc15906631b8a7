"""Every code of a finding, for the findings page, metrics and the docs: of nodes, of clusters, and what apps above add.

`settings.FINDINGS` names what they add, so that none is known here.
"""

from __future__ import annotations

from django.conf import settings
from django.utils.module_loading import import_string

from inventory.compared.entries import FINDINGS as COMPARED
from inventory.health.findings import FINDINGS
from inventory.stacks.engine.base import ERROR, WARNING
from inventory.stacks.engine.catalogue import catalogue
from inventory.stacks.engine.stack import Entry

_OF_CLUSTERS = {
    "never-reached": Entry(
        "Cluster never reached",
        ERROR,
        "No list of this cluster was ever complete; nothing is known of it.",
        "Read the reason; then `manage.py cluster check NAME` on the host of the watchers says what is missing.",
    ),
    "no-word": Entry(
        "No word from the cluster",
        ERROR,
        "The cluster was read before, but has said nothing for too long; its numbers are what was last known.",
        "Look whether its API server is up and reached from the watchers, and whether the credentials still hold.",
    ),
    "nobody-watches": Entry(
        "Nobody watches the cluster",
        ERROR,
        "The leases of its watchers have run out and nobody has taken them; its numbers do not change any more.",
        "Start the watch workers and the schedule (or `manage.py sync`), and look at their logs.",
    ),
    "mirror-differed": Entry(
        "Audit found differences",
        WARNING,
        "The mirror did not hold what the cluster has; it was mended. The finding ends with the next audit that finds nothing.",
        "Find out who writes into gpudash's tables. If nobody does, please report it with the log of the watchers.",
    ),
}

CATALOGUE: dict[str, Entry] = {
    **catalogue(),
    **FINDINGS,
    **COMPARED,
    **_OF_CLUSTERS,
    **{code: entry for path in settings.FINDINGS for code, entry in import_string(path).items()},
}
