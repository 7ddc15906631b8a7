"""Every code of a finding, for the findings page, metrics and the docs: of nodes, of clusters, and what apps above add.

Apps above add theirs by `inventory.extension`, so that none is known here.
"""

from __future__ import annotations

from inventory.compared.entries import FINDINGS as COMPARED
from inventory.health.findings import FINDINGS
from stacks.engine.base import ERROR, WARNING
from stacks.engine.catalogue import catalogue
from stacks.engine.stack import Entry
from wording.said import gettext_noop

_OF_CLUSTERS = {
    "never-reached": Entry(
        gettext_noop("Cluster unreachable"),
        ERROR,
        gettext_noop("gpudash has never read a complete list from this cluster. There is no data for it."),
        gettext_noop("Read the reason. Run `gpudash cluster check NAME` on the watch host to see what is missing."),
    ),
    "cluster-not-reporting": Entry(
        gettext_noop("Cluster not reporting"),
        ERROR,
        gettext_noop("No update for more than 90 s. Pages show last known data."),
        gettext_noop(
            "Check that the API server runs, that the watch host can reach it, and that the credentials are valid."
        ),
    ),
    "cluster-not-watched": Entry(
        gettext_noop("Cluster not watched"),
        ERROR,
        gettext_noop("No watch worker holds the lease. Data is not being updated."),
        gettext_noop("Start the watch workers and the schedule, or `gpudash sync`. Check their logs."),
    ),
    "synced-data-differed": Entry(
        gettext_noop("Synced data differed from the cluster"),
        WARNING,
        gettext_noop(
            "An audit found differences between the synced data and the cluster, and corrected them. The finding ends "
            "with the next audit without differences."
        ),
        gettext_noop(
            "Check for other programs that write into the tables of gpudash. If there are none, report a bug with the "
            "log of the watch workers."
        ),
    ),
}

CATALOGUE: dict[str, Entry] = {
    **catalogue(),
    **FINDINGS,
    **COMPARED,
    **_OF_CLUSTERS,
}
