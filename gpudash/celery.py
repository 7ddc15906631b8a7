"""The Celery application and its schedule."""

from __future__ import annotations

import os
from typing import Any

from celery import Celery
from celery.signals import celeryd_init

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "gpudash.settings")

app = Celery("gpudash")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()

#: A watcher holds its thread for as long as it holds its lease, so the number of cores says nothing: 4 kinds × 16 clusters.
WATCH_THREADS = 64


@celeryd_init.connect
def _enough_threads(conf: Any, options: dict[str, Any], **_: Any) -> None:
    """`celery -A gpudash worker -Q watch -P threads` without -c gets a thread for each watcher (made when needed)."""
    if "thread" in str(options.get("pool") or options.get("pool_cls")) and not options.get("concurrency"):
        conf.worker_concurrency = WATCH_THREADS


#: As `inventory.heartbeats.EVERY_S`, which cannot be imported before Django is set up.
HEARTBEAT_S = 5.0

# A lease runs out after LEASE_S (10 s); looked at every 3 s, a killed watcher is replaced within 15 s.
app.conf.beat_schedule = {
    "dispatch-watchers": {
        "task": "inventory.tasks.dispatch_watchers",
        "schedule": 3.0,
        "options": {"expires": 3.0, "queue": "default"},
    },
    "heartbeat": {
        "task": "inventory.tasks.heartbeat",
        "schedule": HEARTBEAT_S,
        "options": {"expires": HEARTBEAT_S, "queue": "default"},
    },
    "check-clusters": {"task": "inventory.tasks.check_clusters", "schedule": 600.0, "options": {"expires": 600.0}},
    "dispatch-reconcilers": {
        "task": "validations.tasks.dispatch_reconcilers",
        "schedule": 2.0,
        "options": {"expires": 2.0, "queue": "default"},
    },
    "prune-run-logs": {"task": "validations.tasks.prune_logs", "schedule": 86400.0, "options": {"expires": 3600.0}},
    "prune-history": {"task": "inventory.tasks.prune_history", "schedule": 3600.0, "options": {"expires": 3600.0}},
}
