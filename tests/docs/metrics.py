"""docs/reference/metrics.md from a scrape: name, labels and help of each metric. With GOLDEN=rewrite, test_tables.py writes it."""

from __future__ import annotations

import re
from datetime import timedelta

from django.utils import timezone

from api import self_metrics
from api.inventory import metrics as inventory_metrics
from api.quarantine import metrics as quarantine_metrics
from api.validations import metrics as validation_metrics
from inventory.models import Card, Cluster, DirtyNode, UsageSource, Watch
from runtime.models import Message
from runtime.telemetry import figures, report
from tests.factories import make_finding
from tests.factories.usage import measure
from tests.pages.validations.rows import make_run
from tests.processes import ROOT
from validations.models import Launcher

PAGE = ROOT / "docs" / "reference" / "metrics.md"
HEAD = """\
# List of metrics

<!-- Written by `GOLDEN=rewrite make test ARGS=tests/docs/test_tables.py` from a scrape; do not edit. -->

How to scrape, queries and alerts: [metrics.md](../metrics.md). The labels of a card are `cluster`, `node`, `card` (its index, else
its key), `uuid`, `model` and `stack`.
"""
CARD = {"card", "cluster", "model", "node", "stack", "uuid"}


def page(cluster: Cluster) -> str:
    """The whole page, of a fleet in which every metric has a value."""
    everything(cluster)
    parts = {
        "Inventory, `/metrics`": "".join(inventory_metrics.families()),
        "Validations, `/metrics`": "".join(validation_metrics.families()),
        "Out of service, `/metrics`": "".join(quarantine_metrics.families()),
        "gpudash itself, `/metrics/self`": self_metrics.text().decode(),
    }
    return "\n".join([HEAD, *(_section(title, text) for title, text in parts.items())])


def everything(cluster: Cluster) -> None:
    """Rows for the metrics that a quiet fleet does not have."""
    now = timezone.now()
    cards = list(Card.objects.order_by("pk"))
    measure(
        cards[0],
        memory_used_bytes=1,
        utilization_ratio=0.5,
        activity_ratio=0.5,
        temperature_celsius=50.0,
        power_watts=9.0,
    )
    UsageSource.objects.update(round_seconds=1.0)
    make_finding(cluster, "units-mixed", "warning")
    make_run(cluster, node=cards[0].node_name, card=cards[0], own_image=False)
    Watch.objects.update(
        audited_at=now,
        audit_seconds=1.0,
        audit_differences_total=1,
        holder="host/1",
        expires_at=now + timedelta(seconds=9),
    )
    DirtyNode.objects.create(cluster=cluster, node_name=cards[0].node_name)
    Message.objects.create(key="inventory.tasks.watch:1", sent_at=now)
    Launcher.objects.create(cluster=cluster, lock_state="other")
    figures.REQUESTS.labels("page", "200").observe(0.1)
    figures.TASKS.labels("inventory.tasks.watch", "done").observe(0.1)
    report.Reporter("web").write()


def _section(title: str, text: str) -> str:
    kinds = dict(re.findall(r"^# TYPE (gpudash_\S+) (\S+)$", text, re.MULTILINE))
    rows = [
        f"| `{name}` | {_labels(name, text)} | {told.rstrip('.')}{'' if kinds[name] == 'gauge' else f' ({kinds[name]})'} |"
        for name, told in re.findall(r"^# HELP (gpudash_\S+) (.*)$", text, re.MULTILINE)
    ]
    return "\n".join([f"## {title}\n", "| Metric | Labels | Meaning |", "| --- | --- | --- |", *rows, ""])


def _labels(name: str, text: str) -> str:
    found = re.search(rf"^{name}(?:_bucket)?(?:\{{(.*)\}})? ", text, re.MULTILINE)
    assert found, f"{name} has no value in the fleet of this page"
    names = re.findall(r'(\w+)="', found[1] or "")
    own = [one for one in names if one != "le" and not (set(names) >= CARD and one in CARD)]
    return ", ".join([*(["card"] if set(names) >= CARD else []), *(f"`{one}`" for one in own)])
