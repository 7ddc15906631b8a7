"""What is to be said of a cluster's quarantine in `cluster list` and `cluster check`: trouble, and marks that no case explains."""

from __future__ import annotations

from inventory.marks import OURS
from inventory.models import Cluster, Node
from quarantine.models import OPEN, Case, Marker
from wording.said import restored, sentence


def told(cluster: Cluster) -> list[str]:
    found: list[str] = []
    marker = Marker.objects.filter(cluster=cluster).first()
    if marker is not None and marker.error:
        found.append(sentence("Nodes are not marked: {error}", error=restored(marker.error, marker.error_wording)))
    known = frozenset(Case.objects.filter(cluster=cluster, state__in=OPEN).values_list("pk", flat=True))
    for node in Node.objects.filter(cluster=cluster).exclude(marks="").only("name", "marks").order_by("name"):
        strays = [one for one in node.found_marks if one.tool == OURS and one.case not in known]
        if strays:
            found.append(
                sentence(
                    "Node {node} has the mark {key}={case} of gpudash, and there is no open case for it. "
                    "Remove it if no other database marks this cluster.",
                    node=node.name,
                    key=strays[0].key,
                    case=strays[0].case or "",
                )
            )
    return found
