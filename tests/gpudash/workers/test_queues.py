"""Which task goes to which queue, and which credentials it opens: a worker holds those of its queue and no others."""

from __future__ import annotations

import inspect
from types import SimpleNamespace
from typing import Any

import pytest
from celery.worker import WorkController
from django.db.models.functions import Now
from django.utils import timezone

from gpudash import celery
from gpudash.celery import app
from gpudash.workers.queues import DEFAULT, LAUNCH, QUEUES, SHORT_THREADS, THREADS, USAGE, WATCH
from inventory.collect.errors import SourceError
from inventory.collect.prometheus import Prometheus
from inventory.models import Cluster, HistoryAnswer, UsageSource, Watch
from kube.client import BadKubeconfig, Client
from notifications import manage
from runtime.messages import queue_of
from tests.factories import make_cluster, make_node
from tests.validations.recorded import wish
from validations import campaigns
from validations.models import Run
from validations.requests import request_run

MARKER = "/etc/gpudash/quarantine/c"
WATCHER, LAUNCHER, TOKEN = "/etc/gpudash/watcher/c", "/etc/gpudash/launcher/c", "/etc/gpudash/prometheus/token"
#: Every task: its queue, and what it opens.
TASKS: dict[str, tuple[str, set[str]]] = {
    "accounts.tasks.purge_sessions": (DEFAULT, set()),
    "accounts.tasks.read_audit": (DEFAULT, set()),
    "accounts.tasks.ship_audit": (DEFAULT, set()),
    "inventory.tasks.ask_past": (USAGE, {TOKEN}),
    "inventory.tasks.check_cluster": (WATCH, {WATCHER}),
    "inventory.tasks.check_clusters": (DEFAULT, set()),
    "inventory.tasks.check_launcher": (LAUNCH, {LAUNCHER}),
    "inventory.tasks.check_quarantine": (LAUNCH, {MARKER}),
    "inventory.tasks.collect": (USAGE, {TOKEN}),
    "inventory.tasks.dispatch_collectors": (DEFAULT, set()),
    "inventory.tasks.dispatch_watchers": (DEFAULT, set()),
    "inventory.tasks.find_idle": (DEFAULT, set()),
    "inventory.tasks.heartbeat": (DEFAULT, set()),
    "inventory.tasks.launch_heartbeat": (LAUNCH, set()),
    "inventory.tasks.prune_history": (DEFAULT, set()),
    "inventory.tasks.record_history": (DEFAULT, set()),
    "inventory.tasks.sum_namespaces": (DEFAULT, set()),
    "inventory.tasks.usage_heartbeat": (USAGE, set()),
    "inventory.tasks.watch": (WATCH, {WATCHER}),
    "notifications.tasks.advance": (DEFAULT, set()),
    "notifications.tasks.deliver": (DEFAULT, set()),
    "notifications.tasks.prune": (DEFAULT, set()),
    "quarantine.tasks.advance": (DEFAULT, set()),
    "quarantine.tasks.reconcile": (LAUNCH, {MARKER}),
    "validations.tasks.advance_campaign": (DEFAULT, set()),
    "validations.tasks.advance_campaigns": (DEFAULT, set()),
    "validations.tasks.advance_policies": (DEFAULT, set()),
    "validations.tasks.evaluate_policies": (DEFAULT, set()),
    "validations.tasks.dispatch_reconcilers": (DEFAULT, set()),
    "validations.tasks.launch": (LAUNCH, {LAUNCHER}),
    "validations.tasks.prune_imported": (DEFAULT, set()),
    "validations.tasks.prune_logs": (DEFAULT, set()),
    "validations.tasks.reconcile": (LAUNCH, {LAUNCHER}),
    "validations.tasks.reparse_run": (DEFAULT, set()),
}


def ours() -> dict[str, Any]:
    app.loader.import_default_modules()
    return {name: task for name, task in app.tasks.items() if not name.startswith(("celery.", "tests."))}


def test_every_task_goes_where_its_credentials_are() -> None:
    assert {name: queue_of(name) for name in ours()} == {name: queue for name, (queue, _) in TASKS.items()}


def test_a_task_of_the_queue_default_opens_nothing() -> None:
    assert {name for name, (queue, opens) in TASKS.items() if queue == DEFAULT and opens} == set()


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """What is opened from now on. Nothing of it is there."""
    found: set[str] = set()

    def no_cluster(self: Client, kubeconfig: str, *_: Any) -> None:
        found.add(kubeconfig)
        raise BadKubeconfig("none is here")

    def no_prometheus(self: Prometheus, base: str, token_file: str = "", *_: Any) -> None:
        found.add(token_file)
        raise SourceError("refused", "none is here")

    monkeypatch.setattr(Client, "__init__", no_cluster)
    monkeypatch.setattr(Prometheus, "__init__", no_prometheus)
    monkeypatch.setattr("inventory.tasks.stopping.wait", lambda seconds: True)
    monkeypatch.setattr("celery.current_app.send_task", lambda *_, **__: None)
    return found


@pytest.fixture
def busy(db: None) -> dict[str, Any]:
    """A cluster in which every task has something to do; arguments of tasks by their names."""
    cluster = make_cluster("prod", held=False)
    Cluster.objects.update(kubeconfig=WATCHER, launcher_kubeconfig=LAUNCHER, quarantine_kubeconfig=MARKER)
    make_node(cluster, "gpu-1", "nvidia", 2)
    UsageSource.objects.create(
        cluster=cluster, way="prometheus", address="http://p", token_file=TOKEN, state="reading", round_at=Now()
    )
    answer = HistoryAnswer.objects.create(
        cluster=cluster, subject="node", key="gpu-1", window="1d", wanted_at=timezone.now()
    )
    run, _ = request_run(wish())
    Run.objects.filter(pk=run.pk).update(reparse_requested_at=Now())
    campaign, _ = campaigns.create("nvidia-smi", [("prod", "gpu-1", "")])
    values = {"url": "http://127.0.0.1:9/", "secrets": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}
    channel = manage.create_channel(manage.ChannelDraft(name="x", kind="webhook", settings=values))
    manage.test_channel(channel)
    return {
        "cluster_id": cluster.pk,
        "channel_id": channel.pk,
        "kind": "nodes",
        "answer_id": answer.pk,
        "run_id": run.pk,
        "campaign_id": campaign.pk,
    }


@pytest.mark.parametrize("name", sorted(TASKS))
def test_a_task_opens_the_credentials_of_its_queue(name: str, busy: dict[str, Any], opened: set[str]) -> None:
    task = ours()[name]
    task(*(busy[word] for word in inspect.signature(task.run).parameters))
    assert opened == TASKS[name][1]


# Threads.


def test_a_watch_worker_has_threads_that_no_watcher_takes() -> None:
    worker = WorkController(app=app, pool_cls="threads", concurrency=3, queues=[WATCH], quiet=True)
    assert worker.concurrency == 3 + SHORT_THREADS
    other = WorkController(app=app, pool_cls="threads", concurrency=3, queues=[LAUNCH], quiet=True)
    assert other.concurrency == 3


@pytest.mark.parametrize("queue", QUEUES)
def test_a_worker_has_the_threads_of_its_queue(queue: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpudash.config.database_pool.use_pool", lambda: None)
    monkeypatch.setattr("runtime.process_memory.limit_arenas", lambda arenas: None)
    monkeypatch.setattr("runtime.process_memory.give_back_large", lambda: None)
    for queues in (queue, [queue]):
        conf = SimpleNamespace(worker_pool="threads", worker_concurrency=None)
        celery._enough_threads(conf=conf, options={"queues": queues, "pool": None})
        assert conf.worker_concurrency == THREADS[queue]


def test_watchers_that_a_worker_has_no_thread_for_are_left_to_others(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    from inventory import tasks
    from inventory.mirror.keeper import Keeper

    cluster = make_cluster("prod", held=False)
    Watch.objects.update(sent_at=Now())
    keeper = Keeper()
    monkeypatch.setattr(Keeper, "running", True)
    keeper._threads = 2
    monkeypatch.setattr(tasks, "keeper", keeper)
    begun: list[str] = []

    def nested(cluster_id: int, kind: str) -> None:
        """While this one is held, the next one comes."""
        begun.append(kind)
        following = {"nodes": "pods", "pods": "daemonsets"}.get(kind)
        if following:
            tasks.watch(cluster_id, following)

    monkeypatch.setattr(tasks, "_watch", nested)
    tasks.watch(cluster.pk, "nodes")
    assert begun == ["nodes", "pods"]
    assert Watch.objects.get(kind="daemonsets").sent_at is None, "the next look sends it anew"
    assert Watch.objects.get(kind="pods").sent_at is not None
    tasks.watch(cluster.pk, "daemonsets")
    assert begun[2:] == ["daemonsets"], "threads that are free again are taken"
