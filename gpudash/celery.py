"""The Celery application, its workers and its schedule."""

from __future__ import annotations

import os
from typing import Any

from celery import Celery
from celery.signals import celeryd_init, worker_ready, worker_shutting_down

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "gpudash.settings")

app = Celery("gpudash")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()

#: A watcher holds its thread for as long as it holds its lease, so the number of cores says nothing: 8 kinds × 128 clusters, though
#: few clusters have something of each. A thread is made when it is needed.
WATCH_THREADS = 1024
#: Heaps of the C library for all threads of a worker: with one they stay level under faults, with the usual number they do not.
ARENAS = 1
#: A task of the queue `default` may wait for a cluster that does not answer, one thread each.
TASK_THREADS = 32
#: Each reads one Prometheus, and may hold 100 MiB while it does.
USAGE_THREADS = 4


@celeryd_init.connect
def _enough_threads(conf: Any, options: dict[str, Any], **_: Any) -> None:
    """A worker with threads (`-P threads`) gets as many as it may need, unless -c says otherwise, and shares connections."""
    if "thread" not in str(options.get("pool") or options.get("pool_cls") or conf.worker_pool):
        return
    if not options.get("concurrency"):
        queues = str(options.get("queues") or "")
        threads = {"watch": WATCH_THREADS, "usage": USAGE_THREADS}
        conf.worker_concurrency = next((count for name, count in threads.items() if name in queues), TASK_THREADS)
    from gpudash.database_pool import use_pool
    from inventory.process_memory import limit_arenas

    limit_arenas(ARENAS)
    use_pool()


@worker_ready.connect
def _keep_leases(sender: Any, **_: Any) -> None:
    """A worker of the queue `watch` says how many watchers it can hold, and renews their leases together."""
    if "watch" in sender.app.amqp.queues.consume_from:
        from inventory.mirror.keeper import keeper
        from inventory.process_memory import collect_rarely

        collect_rarely()
        keeper.start(sender.controller.concurrency)


@worker_shutting_down.connect
def _let_go(**_: Any) -> None:
    from inventory.mirror.keeper import keeper

    keeper.retire()


#: As `inventory.heartbeats.EVERY_S`, which cannot be imported before Django is set up.
HEARTBEAT_S = 5.0

# Each entry's last message must be taken before the next is sent (`gpudash.schedule`), so none piles up and none expires.
# A lease runs out after LEASE_S (10 s); looked at every 3 s, a killed watcher is replaced within 15 s.
app.conf.beat_schedule = {
    "dispatch-watchers": {"task": "inventory.tasks.dispatch_watchers", "schedule": 3.0},
    "dispatch-collectors": {"task": "inventory.tasks.dispatch_collectors", "schedule": 5.0},
    "find-idle": {"task": "inventory.tasks.find_idle", "schedule": 60.0},
    "heartbeat": {"task": "inventory.tasks.heartbeat", "schedule": HEARTBEAT_S},
    "check-clusters": {"task": "inventory.tasks.check_clusters", "schedule": 600.0},
    "dispatch-reconcilers": {"task": "validations.tasks.dispatch_reconcilers", "schedule": 2.0},
    "prune-run-logs": {"task": "validations.tasks.prune_logs", "schedule": 86400.0},
    "prune-history": {"task": "inventory.tasks.prune_history", "schedule": 3600.0},
}
