"""The Prometheus scrape of what is out of service. Names, labels and units are an interface: add, never rename."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from django.db.models import Count

from api.inventory.metrics import Family, labels_of
from inventory.marks import OURS
from inventory.models import Cluster
from quarantine.models import OPEN, Case, QuarantineSwitch
from resources.node_mark import OUT, rows, tools_of


def families() -> Iterator[str]:
    """In four queries. Tools are those of a closed table, so that their number is bounded."""
    names = dict(Cluster.objects.values_list("pk", "name"))
    yield from (one.text() for one in (_nodes(names), _cases(names), _tripped()))


def _nodes(names: dict[int, str]) -> Family:
    family = Family(
        "gpudash_nodes_out_of_service",
        "GPU nodes that a cordon, taint or label keeps pods off, by the tool that set it. A node that two tools marked is in both.",
    )
    found = Counter({(pk, OURS): 0 for pk in names})
    for node in rows().filter(OUT).only("cluster_id", "marks").iterator(2000):
        found.update((node.cluster_id, tool) for tool in tools_of(one for one in node.found_marks if one.blocks))
    for (cluster, tool), number in sorted(found.items()):
        family.add(labels_of(cluster=names.get(cluster, ""), tool=tool), number)
    return family


def _cases(names: dict[int, str]) -> Family:
    family = Family(
        "gpudash_out_of_service_cases",
        "Open cases by state: recommended, accepted, out (waiting for a pass) or returning.",
    )
    counted = Case.objects.filter(state__in=OPEN).order_by().values_list("cluster_id", "state").annotate(Count("pk"))
    found = {(cluster, state): number for cluster, state, number in counted}
    for cluster, name in names.items():
        for state in OPEN:
            family.add(labels_of(cluster=name, state=state), found.get((cluster, state), 0))
    return family


def _tripped() -> Family:
    family = Family(
        "gpudash_quarantine_tripped", "1 if the cap was reached and policies take no more cards out, else 0."
    )
    family.lines.append(f"{family.name} {int(QuarantineSwitch.objects.filter(tripped_at__isnull=False).exists())}\n")
    return family
