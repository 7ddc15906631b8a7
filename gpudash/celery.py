"""The Celery application, its workers and its schedule."""

from __future__ import annotations

import os
import time
from typing import Any

from celery import Celery
from celery.signals import (
    beat_init,
    celeryd_init,
    task_failure,
    task_postrun,
    task_prerun,
    worker_init,
    worker_ready,
    worker_shutting_down,
)

from gpudash.workers.queues import DEFAULT, QUEUES, SHORT_THREADS, THREADS, USAGE, WATCH

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "gpudash.settings")
# Django's checks import every page: 20 MiB and a second of CPU for each worker. `serve` and `migrate` run them.
os.environ.setdefault("CELERY_SKIP_CHECKS", "1")

app = Celery("gpudash")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()

#: Heaps of the C library for all threads of a worker: with one they stay level under faults, with the usual number they do not.
ARENAS = 1


@celeryd_init.connect
def _enough_threads(conf: Any, options: dict[str, Any], **_: Any) -> None:
    """A worker with threads (`-P threads`) gets as many as it may need, unless -c says otherwise, and shares connections."""
    if "thread" not in str(options.get("pool") or options.get("pool_cls") or conf.worker_pool):
        return
    if not options.get("concurrency"):
        named = str(options.get("queues") or "")
        conf.worker_concurrency = max(THREADS[queue] for queue in [one for one in QUEUES if one in named] or [DEFAULT])
    from gpudash.config.database_pool import use_pool
    from runtime.process_memory import give_back_large, limit_arenas

    limit_arenas(ARENAS)
    give_back_large()
    use_pool()


@celeryd_init.connect
def _keep_others_out(**_: Any) -> None:
    """In an installation; elsewhere whoever develops or measures looks into workers."""
    from django.conf import settings

    from gpudash.workers.closed_process import close_to_others

    if settings.PRODUCTION:
        close_to_others()


@worker_init.connect
@beat_init.connect
def _not_with_later_tables(**_: Any) -> None:
    from gpudash.later_release import refuse_later

    refuse_later()


@worker_init.connect
def _room_for_short_tasks(sender: Any, **_: Any) -> None:
    """A worker of the queue `watch` has some threads more than it holds watchers, also with -c, and reads whole clusters."""
    if WATCH not in sender.app.amqp.queues.consume_from:
        return
    from runtime.process_memory import collect_rarely

    collect_rarely()
    if isinstance(sender.concurrency, int):
        sender.concurrency += SHORT_THREADS


@worker_ready.connect
def _keep_leases(sender: Any, **_: Any) -> None:
    """A worker of the queue `watch` says how many watchers it can hold, and renews their leases together. It reads whole clusters, as
    one of the queue `usage` does."""
    from inventory.mirror.keeper import keeper
    from runtime.process_memory import collect_rarely

    queues = sender.app.amqp.queues.consume_from
    if WATCH in queues or USAGE in queues:
        collect_rarely()
    if WATCH in queues:
        keeper.start(sender.controller.concurrency - SHORT_THREADS)


@worker_ready.connect
def _say_how_it_does(sender: Any, **_: Any) -> None:
    from gpudash.config.database_pool import connections_now
    from runtime.telemetry import figures, report

    figures.count_connections(connections_now)
    report.start("worker: " + ", ".join(sorted(sender.app.amqp.queues.consume_from)))


#: A watcher holds its thread for hours: how long it took says nothing.
_WATCHES = "inventory.tasks.watch"


@task_prerun.connect
def _begun(task: Any, **_: Any) -> None:
    task.request.gpudash_began = time.monotonic()


@task_postrun.connect
def _ended(task: Any, state: str | None = None, **_: Any) -> None:
    from runtime.telemetry import figures

    began = getattr(task.request, "gpudash_began", None)
    if began is not None and task.name != _WATCHES:
        figures.count_task(task.name, time.monotonic() - began, failed=state == "FAILURE")


@task_failure.connect
def _failed(sender: Any, exception: BaseException, **_: Any) -> None:
    """Without the error's text, which may hold anything; the log has it, its secrets masked."""
    from runtime.telemetry import figures

    figures.note_failure(sender.name, time.time(), type(exception).__name__)


@worker_shutting_down.connect
def _let_go(**_: Any) -> None:
    from inventory.mirror.keeper import keeper

    keeper.retire()


#: As `runtime.heartbeats.EVERY_S`, which cannot be imported before Django is set up.
HEARTBEAT_S = 5.0

# Each entry's last message must be taken before the next is sent (`gpudash.workers.schedule`), so none piles up and none expires.
# A lease runs out after LEASE_S (10 s); looked at every 2 s, a killed watcher is replaced within 15 s.
app.conf.beat_schedule = {
    "dispatch-watchers": {"task": "inventory.tasks.dispatch_watchers", "schedule": 2.0},
    "dispatch-collectors": {"task": "inventory.tasks.dispatch_collectors", "schedule": 5.0},
    "find-idle": {"task": "inventory.tasks.find_idle", "schedule": 60.0},
    "record-history": {"task": "inventory.tasks.record_history", "schedule": 60.0},
    "sum-namespaces": {"task": "inventory.tasks.sum_namespaces", "schedule": 60.0},
    "heartbeat": {"task": "inventory.tasks.heartbeat", "schedule": HEARTBEAT_S},
    "launch-heartbeat": {"task": "inventory.tasks.launch_heartbeat", "schedule": HEARTBEAT_S},
    "check-clusters": {"task": "inventory.tasks.check_clusters", "schedule": 600.0},
    "dispatch-reconcilers": {"task": "validations.tasks.dispatch_reconcilers", "schedule": 2.0},
    "advance-quarantine": {"task": "quarantine.tasks.advance", "schedule": 10.0},
    "advance-policies": {"task": "validations.tasks.advance_policies", "schedule": 60.0},
    "advance-notifications": {"task": "notifications.tasks.advance", "schedule": 10.0},
    "prune-deliveries": {"task": "notifications.tasks.prune", "schedule": 86400.0},
    "prune-imported-results": {"task": "validations.tasks.prune_imported", "schedule": 86400.0},
    "prune-run-logs": {"task": "validations.tasks.prune_logs", "schedule": 86400.0},
    "purge-sessions": {"task": "accounts.tasks.purge_sessions", "schedule": 86400.0},
    "ship-audit": {"task": "accounts.tasks.ship_audit", "schedule": 15.0},
    "read-audit": {"task": "accounts.tasks.read_audit", "schedule": 600.0},
    "prune-history": {"task": "inventory.tasks.prune_history", "schedule": 3600.0},
}
