"""Every link of every page leads somewhere: one walk through all of them."""

from __future__ import annotations

from typing import Any
from urllib.parse import urljoin, urlsplit

import pytest
from django.test import Client

from inventory.models import Allocation, Cluster
from tests.factories import end_allocation, make_finding, make_fleet, make_unreadable
from tests.pages.reading import read

#: Far more pages than there are.
MOST = 1500


def _kinds(link: str) -> set[tuple[str, str]]:
    """(page, name in its query): links that differ only in values are of one kind, and each name of a query is walked once, not each
    combination of names."""
    parts = urlsplit(link)
    path = "/".join("#" if step.isdigit() or step.startswith("gpu-") else step for step in parts.path.split("/"))
    return {(path, pair.partition("=")[0]) for pair in parts.query.split("&")}


@pytest.mark.sweep
def test_every_link_leads_somewhere(viewer: Client, cluster: Cluster) -> None:
    make_fleet(cluster, nodes=60, cards=2, pending=3)
    make_finding(cluster, "count-zero", "error", "gpu-00000", "0")
    make_unreadable(cluster)
    end_allocation(Allocation.objects.order_by("pk")[0])
    seen, ahead, walked = _kinds("/"), ["/"], 0
    while ahead and walked < MOST:
        path = ahead.pop(0)
        response: Any = viewer.get(path)
        assert response.status_code in (200, 302), f"{path}: {response.status_code}"
        walked += 1
        if response.streaming or response.status_code != 200 or "html" not in response.headers["Content-Type"]:
            continue
        for link in read(response).links:
            target = urljoin(path, link.partition("#")[0])
            if target.startswith("https://"):
                continue  # out of a document, to another site
            if target and not _kinds(target) <= seen and not target.startswith("/api/"):
                seen |= _kinds(target)
                ahead.append(target)
    assert not ahead, f"{walked} pages were walked"
    assert walked > 60
