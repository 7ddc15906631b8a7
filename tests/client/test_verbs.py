"""What each verb prints, by the product's own REST."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
import yaml
from django.utils import timezone

from client.verbs import validate
from inventory.models import Allocation, Cluster, Component
from tests.client.conftest import Ask, InProcess
from tests.factories import make_cluster, make_node, make_pending_pod, not_metered
from validations.models import Run

pytestmark = pytest.mark.django_db


@pytest.fixture
def nodes(cluster: Cluster) -> Cluster:
    """One with free cards, one that is shared, and one whose free memory is unknown."""
    make_node(cluster, "large", "nvidia", 4, loads=(0.0, 1.0))
    make_node(cluster, "small", "gpushare", 2, loads=(0.4, 0.0))
    make_node(cluster, "unsure", "gpushare", 1)
    not_metered("unsure")
    Allocation.objects.update(started_at=timezone.now() - timedelta(hours=26))
    return cluster


def test_free_has_the_node_with_the_most_first_and_the_unknown_last(ask: Ask, nodes: Cluster) -> None:
    found = ask("free")
    assert (found.code, found.err) == (0, "")
    assert found.out == FREE


FREE = """\
NODE    MODEL           FREE CARDS  FREE, GiB  LARGEST, GiB  UNAVAILABLE
large   A100-SXM4-80GB  2 of 4      160        80            –
small   Tesla-T4        1 of 2      24         15            –
unsure  Tesla-T4        1 of 1      unknown    unknown       –
"""


def test_free_by_model_adds_up_what_is_known(ask: Ask, nodes: Cluster) -> None:
    assert ask("free", "--group-by", "model").out == MODELS
    assert ask("free", "--group-by", "model", "--model", "a100").lines[1:] == MODELS.splitlines()[1:2]


MODELS = """\
MODEL           NODES  FREE CARDS  FREE, GiB  LARGEST, GiB  EXCLUDED
A100-SXM4-80GB  1      2 of 4      160        80            –
Tesla-T4        2      2 of 3      24         15            1 of 2 nodes
"""


def test_free_of_a_model_of_which_there_is_none(ask: Ask, nodes: Cluster) -> None:
    for words in (["free", "--model", "h200"], ["free", "--model", "h200", "--group-by", "model"]):
        assert ask(*words).out == "No nodes with a GPU match\n"


def test_the_cluster_is_a_column_where_there_are_several(ask: Ask, nodes: Cluster) -> None:
    make_node(make_cluster("other"), "large", "nvidia", 4)
    assert ask("free").lines[0].split()[:2] == ["NODE", "CLUSTER"]
    assert ask("free", "--cluster", "other").lines[0].split()[:2] == ["NODE", "MODEL"]


def test_pages_are_followed_and_a_cut_is_said(
    ask: Ask, rest: InProcess, nodes: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("client.server.PAGE", 2)
    found = ask("free", "--limit", "3")
    assert [line.split()[0] for line in found.lines] == ["NODE", "large", "small", "unsure"]
    assert (found.err, len(rest.asked)) == ("", 2)
    found = ask("free", "--limit", "1")
    assert len(found.lines) == 2
    assert found.err == "Cut after 1 rows. More: --limit N\n"


def test_wide_has_more_columns(ask: Ask, nodes: Cluster) -> None:
    assert ask("free", "-o", "wide").lines[0].endswith("ALLOCATED, GiB  HEALTH   STACK     DRIVER")


def test_json_is_that_of_the_server(ask: Ask, nodes: Cluster, api: object) -> None:
    found = json.loads(ask("free", "-o", "json").out)
    assert set(found) == {"next", "previous", "results"}
    assert found["results"][0]["memory_free_bytes"] == 160 << 30


def test_fit_says_where_and_why_not_elsewhere(ask: Ask, nodes: Cluster) -> None:
    found = ask("fit", "2x20Gi")
    assert (found.code, found.err) == (0, "")
    assert found.out == FIT


FIT = """\
1 of 3 GPU nodes fit now
NODE   STACK   CARDS              LARGEST, GiB  REQUEST            NOTES
large  nvidia  -large-0 -large-2  80            nvidia.com/gpu: 2  –
Rejected:
  2: a pod can get a part of one card only: small, unsure
"""


@pytest.mark.parametrize(
    ("text", "request_"), [("2x20Gi", "cards=2&memory=20Gi"), ("2", "cards=2"), ("20Gi", "memory=20Gi")]
)
def test_fit_takes_cards_memory_or_both(ask: Ask, rest: InProcess, text: str, request_: str) -> None:
    ask("fit", text)
    assert rest.asked == [f"GET /api/v1/fit?{request_}&limit=20"]


def test_fit_fails_where_no_node_fits(ask: Ask, nodes: Cluster) -> None:
    found = ask("fit", "9x20Gi")
    assert found.code == 1
    assert found.lines[0] == "0 of 3 GPU nodes fit now"


def test_fit_refuses_what_the_server_refuses_in_its_words(ask: Ask, nodes: Cluster) -> None:
    found = ask("fit", "2x20Qi")
    assert (found.code, found.out) == (1, "")
    assert found.err == "error: memory: Must be an amount of memory: 20, 20 GiB or 20000 MiB (plain numbers are GiB).\n"


def test_fit_prints_a_pod_and_nothing_else(ask: Ask, nodes: Cluster) -> None:
    [pod] = yaml.safe_load_all(ask("fit", "2x20Gi", "--yaml").out)
    assert pod["spec"]["nodeSelector"] == {"kubernetes.io/hostname": "large"}
    found = ask("fit", "9x20Gi", "--yaml")
    assert (found.code, found.out) == (1, "")
    assert found.err.startswith("0 of 3 GPU nodes fit now\n")


def test_who_has_the_cards_of_a_node(ask: Ask, nodes: Cluster) -> None:
    assert ask("who", "small").out == WHO
    assert ask("who", "small/0").lines == WHO.splitlines()[:3]


WHO = """\
CARD  STATE   NAMESPACE  POD              OWNER                     GiB  SINCE
0     partly  default    train-small-0-0  ReplicaSet/train-default  3    26 h ago
0     partly  default    train-small-0-1  ReplicaSet/train-default  3    26 h ago
1     free    –          –                –                         –    –
"""


def test_who_takes_a_uuid(ask: Ask, nodes: Cluster) -> None:
    assert ask("who", "large/GPU-large-1").lines[1].split()[:2] == ["GPU-large-1", "full"]
    assert json.loads(ask("who", "large/GPU-large-1", "-o", "json").out)["uuid"] == "GPU-large-1"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["who", "none"], "There is no node none with a GPU. `kubectl gpudash free` lists nodes"),
        (["who", "small/9"], "small has no card 9. Cards: 0, 1"),
        (["who", "none", "--cluster", "prod"], "Cluster 'prod' has no node 'none' with a GPU."),
        (["why", "none"], "There is no pod none that requests a GPU"),
        (["why", "none", "-n", "a"], "There is no pod none in the namespace a that requests a GPU"),
        (["components", "none"], "There is no node none with a GPU."),
        (["validate", "none"], "node: "),
        (["validate", "large", "--suite", "nope"], "suite: There is no suite 'nope'; there are: "),
        (["free", "--cluster", "nope"], "cluster: No cluster 'nope'. Clusters: prod."),
    ],
    ids=" ".join,
)
def test_what_is_not_there_is_said_in_one_line(ask: Ask, nodes: Cluster, words: list[str], told: str) -> None:
    found = ask(*words)
    assert (found.code, found.out) == (1, "")
    assert found.err.startswith(f"error: {told}")
    assert found.err.count("\n") == 1


def test_a_node_of_several_clusters_has_to_be_named_with_one(ask: Ask, nodes: Cluster) -> None:
    make_node(make_cluster("other"), "large", "nvidia", 4)
    assert (
        ask("who", "large").err == "error: Several clusters have a node large: prod, other. Name one with --cluster\n"
    )
    assert ask("who", "large", "--cluster", "other").code == 0


def test_why_a_pod_is_pending(ask: Ask, nodes: Cluster) -> None:
    make_pending_pod(nodes, "hungry", quantity=64)
    assert ask("why", "hungry").out == WHY


WHY = """\
Pod: team-a/hungry in prod
Requests: aliyun.com/gpu-mem: 64
Pending for: 5 min
Reason: No card has 64 GiB. Largest: 15 GiB.
Scheduler: 0/3 nodes are available: 3 Insufficient GPU Memory in one device.
Closest nodes:
NODE    MODEL     LARGEST, GiB  LACKS
small   Tesla-T4  15            has only 30 of 64 aliyun.com/gpu-mem
unsure  Tesla-T4  unknown       has only 15 of 64 aliyun.com/gpu-mem
"""


def test_why_of_a_pod_that_runs(ask: Ask, nodes: Cluster) -> None:
    pod = Allocation.objects.filter(node_name="large").first()
    assert pod is not None
    assert ask("why", pod.pod, "-n", pod.namespace).lines[-1] == "Not pending: Running on large"


def test_components_of_a_node_and_of_all(ask: Ask, nodes: Cluster) -> None:
    Component.objects.all().delete()
    made = (("driver", "crash-looping", True), ("device-plugin", "waiting", False), ("dcgm", "ready", False))
    for position, (name, state, cause) in enumerate(made):
        Component.objects.create(
            cluster=nodes,
            node_name="large",
            name=name,
            stack="nvidia",
            state=state,
            first_cause=cause,
            position=position,
            digest=0,
            remedy="Restart it." if cause else "",
            state_since=timezone.now() - timedelta(minutes=41),
        )
    assert ask("components", "large").out == COMPONENTS
    assert ask("components").out == NOT_READY


COMPONENTS = """\
First cause: driver, crash-looping
Remedy: Restart it.
COMPONENT      STATE          FIRST CAUSE  VERSION  SINCE       REASON
driver         crash-looping  yes          unknown  41 min ago  –
device-plugin  waiting        –            unknown  41 min ago  –
dcgm           ready          –            unknown  41 min ago  –
"""
NOT_READY = """\
NODE   COMPONENT      STATE          FIRST CAUSE  VERSION  SINCE       REASON
large  driver         crash-looping  yes          unknown  41 min ago  –
large  device-plugin  waiting        –            unknown  41 min ago  –
"""


def test_nothing_that_is_not_ready(ask: Ask, nodes: Cluster) -> None:
    assert ask("components").out == "All components are ready\n"


def test_validate_starts_a_run_on_each_card(ask: Ask, nodes: Cluster) -> None:
    found = ask("validate", "small", "--cards", "0,1", "-o", "json")
    assert (found.code, found.err) == (0, "")
    runs = json.loads(found.out)["results"]
    assert [(run["suite"], run["card_requested"], run["state"]) for run in runs] == [
        ("cuda-vectoradd", "0", "queued"),
        ("cuda-vectoradd", "1", "queued"),
    ]
    again = ask("validate", "small", "--cards", "0,1")
    assert (again.code, again.out) == (1, "")
    assert [line.partition(":")[0] for line in again.err.splitlines()] == ["Card 0", "Card 1"]


@pytest.mark.parametrize(("verdict", "code"), [("passed", 0), ("warning", 1), ("failed", 1), ("errored", 1)])
def test_validate_waits_for_the_verdict(
    ask: Ask, nodes: Cluster, monkeypatch: pytest.MonkeyPatch, verdict: str, code: int
) -> None:
    def end(_: float) -> None:
        Run.objects.update(state="ended", verdict=verdict, level="checked", ended_at=timezone.now())

    monkeypatch.setattr(validate.time, "sleep", end)
    found = ask("validate", "large", "--wait")
    assert found.code == code
    [run] = Run.objects.all()
    queued, ended = found.err.splitlines()
    assert queued.startswith(f"{run.pk} cuda-vectoradd on large: queued (launch worker (queue launch) not seen yet: ")
    assert ended == f"{run.pk} cuda-vectoradd on large: ended"
    assert found.lines[1].split()[:5] == [run.pk, "cuda-vectoradd", "any", "ended", verdict]


def test_a_viewer_starts_nothing(ask: Ask, nodes: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    from accounts.roles import Role
    from tests.cast import make_token, make_user

    monkeypatch.setenv("GPUDASH_TOKEN", make_token(make_user("vera", Role.VIEWER)))
    found = ask("validate", "large")
    assert (found.code, found.out) == (1, "")
    assert found.err.startswith("error: Not permitted: ")
