"""The queues, and which task goes to which.

One worker process each, so that each holds the credentials that its tasks need and no others.

Imported by the settings: knows nothing of Django.

| Queue | Credentials of its worker |
| --- | --- |
| default | none |
| watch | the watchers' of each cluster |
| launch | the launcher's of each cluster, and those that mark nodes |
| usage | the tokens of Prometheus servers; the watchers', where exporters are read directly |
"""

from __future__ import annotations

DEFAULT, WATCH, LAUNCH, USAGE = QUEUES = ("default", "watch", "launch", "usage")

#: Name of a task → its queue. What is not named goes to `default`, and may open no credential.
TASKS = {
    "inventory.tasks.watch": WATCH,
    "inventory.tasks.check_cluster": WATCH,
    "inventory.tasks.check_launcher": LAUNCH,
    "inventory.tasks.check_quarantine": LAUNCH,
    "inventory.tasks.launch_heartbeat": LAUNCH,
    "validations.tasks.launch": LAUNCH,
    "validations.tasks.reconcile": LAUNCH,
    "quarantine.tasks.reconcile": LAUNCH,
    "inventory.tasks.collect": USAGE,
    "inventory.tasks.ask_past": USAGE,
    "inventory.tasks.usage_heartbeat": USAGE,
}
#: As Celery wants it.
ROUTES = {task: {"queue": queue} for task, queue in TASKS.items()}

#: A watcher holds its thread for as long as it holds its lease, so the number of cores says nothing: 9 kinds × 110 clusters, though
#: few clusters have something of each. A thread is made when it is needed.
WATCH_THREADS = 1024
#: Threads of a watch worker that no watcher takes, for what is done in seconds: what the watchers' credentials may do is asked there.
SHORT_THREADS = 8
#: What is done for a run may wait for a cluster that does not answer, one thread each.
LAUNCH_THREADS = 32
#: Each reads one Prometheus, and may hold 100 MiB while it does.
USAGE_THREADS = 4
#: None of these waits for a cluster; a log that is read again takes seconds.
DEFAULT_THREADS = 32
#: Of a worker that is not told how many (`-c`), by its queue.
THREADS = {WATCH: WATCH_THREADS, LAUNCH: LAUNCH_THREADS, USAGE: USAGE_THREADS, DEFAULT: DEFAULT_THREADS}
