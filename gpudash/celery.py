"""The Celery application and its schedule."""

from __future__ import annotations

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "gpudash.settings")

app = Celery("gpudash")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()

# A lease runs out after LEASE_S (10 s); looked at every 3 s, a killed watcher is replaced within 15 s.
app.conf.beat_schedule = {
    "dispatch-watchers": {
        "task": "inventory.tasks.dispatch_watchers",
        "schedule": 3.0,
        "options": {"expires": 3.0, "queue": "default"},
    },
    "check-clusters": {"task": "inventory.tasks.check_clusters", "schedule": 600.0, "options": {"expires": 600.0}},
    "prune-history": {"task": "inventory.tasks.prune_history", "schedule": 86400.0, "options": {"expires": 3600.0}},
}
