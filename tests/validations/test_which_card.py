"""A result belongs to the card that ran: known from the run's pod, never from what was asked for."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from inventory.models import Allocation, Card, Cluster, Node, NodeTotals
from inventory.models import Pod as PodRow
from tests.factories import make_node, make_pending_pod
from tests.validations.fakecluster import FakeCluster
from tests.validations.recorded import FAILED, PASSED, codes, later, launched, passed_by, wish
from validations import validity
from validations.models import Run
from validations.planning import Refused, plan
from validations.requests import request_run

V1, V2 = "ALIYUN_COM_GPU_MEM", "scheduler.framework.gpushare"


@pytest.fixture
def shared(prod: Cluster) -> Cluster:
    """Besides, a gpushare node of four cards of 15 GiB: free, 40 % held, full, free."""
    make_node(prod, "share", "gpushare", 4, loads=(0.0, 0.4, 1.0, 0.0))
    return prod


def asked(cluster: Cluster, card: str = "3", **more: Any) -> Run:
    return launched(cluster, node="share", card=card, **more)


def assign(fake: FakeCluster, run: Run, card: int | None = None, assigned: str = "true", **more: str) -> None:
    """What the device plugin writes; a stubborn one gives another card."""
    annotations = fake.pod(run.job_name, node="share")["metadata"]["annotations"]
    annotations |= {f"{V1}_ASSIGNED": assigned, f"{V2}.assigned": assigned, **more}
    if card is not None:
        annotations |= {f"{V1}_IDX": str(card), f"{V2}.allocation": f'{{"0":{{"{card}":1}}}}'}


def end(cluster: Cluster, fake: FakeCluster, run: Run, log: bytes = PASSED, code: int = 0) -> Run:
    fake.end(run.job_name, log, code)
    return passed_by(run, cluster)


def card_of(index: int) -> Card:
    return Card.objects.get(node_name="share", index=index)


def test_on_gpushare_the_pod_brings_the_card_that_was_asked_for(shared: Cluster, fake: FakeCluster) -> None:
    before = datetime.now(UTC).timestamp()
    run = asked(shared, "3")
    template = fake.jobs[run.job_name]["spec"]["template"]
    written = template["metadata"]["annotations"]
    assert template["spec"]["nodeName"] == "share"
    assert "affinity" not in template["spec"]
    assert {name: written[name] for name in sorted(written) if "TIME" not in name.upper()} == {
        f"{V1}_ASSIGNED": "false",
        f"{V1}_DEV": "15",
        f"{V1}_IDX": "3",
        f"{V1}_POD": "1",
        f"{V2}.allocation": '{"0":{"3":1}}',
        f"{V2}.assigned": "false",
    }
    for name in (f"{V1}_ASSUME_TIME", f"{V2}.assume-time"):
        assert before <= int(written[name]) / 1e9 <= datetime.now(UTC).timestamp()
    assert template["spec"]["containers"][0]["resources"]["limits"]["aliyun.com/gpu-mem"] == "1"


def test_the_pod_is_assumed_at_the_moment_of_its_creation(shared: Cluster, fake: FakeCluster) -> None:
    run, _ = request_run(wish(node="share", card="3"))
    planned = run.manifest["spec"]["template"]["metadata"]["annotations"][f"{V1}_ASSUME_TIME"]
    passed_by(run, shared)
    created = fake.jobs[run.job_name]["spec"]["template"]["metadata"]["annotations"]
    assert int(created[f"{V1}_ASSUME_TIME"]) > int(planned)
    assert created[f"{V2}.assume-time"] == created[f"{V1}_ASSUME_TIME"]


def test_some_card_goes_through_the_scheduler(shared: Cluster, fake: FakeCluster) -> None:
    run = launched(shared, node="share")
    template = fake.jobs[run.job_name]["spec"]["template"]
    assert "nodeName" not in template["spec"]
    assert "annotations" not in template["metadata"]


def test_a_run_that_got_its_card_proves_it(shared: Cluster, fake: FakeCluster) -> None:
    run = asked(shared, "3")
    assign(fake, run)
    end(shared, fake, run)
    assert (run.verdict, run.card_key, run.card_evidence, run.card_note) == ("passed", "3", "annotation-v2", "")
    assert run.reasons == []
    assert validity.of_cards([card_of(3).pk])[card_of(3).pk].state == "validated"


def test_a_plugin_that_gives_another_card_is_believed_and_the_run_says_so(shared: Cluster, fake: FakeCluster) -> None:
    run = asked(shared, "3")
    assign(fake, run, card=1)
    end(shared, fake, run)
    assert (run.card_key, run.card_requested, run.card_id) == ("1", "3", card_of(1).pk)
    assert codes(run) == ["other-card"]
    assert "Card 3 was requested, card 1 was allocated" in run.reasons[0]["text"]
    states = {pk: found.state for pk, found in validity.of_cards([card_of(3).pk, card_of(1).pk]).items()}
    assert states == {card_of(3).pk: "never", card_of(1).pk: "validated"}


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ({"assigned": "false"}, "never confirmed the allocation"),
        ({f"{V1}_IDX": "1"}, "name different cards"),
        ({f"{V2}.allocation": '{"0":{"9":1}}', f"{V1}_IDX": "9"}, "does not identify the card"),
    ],
)
def test_a_card_that_is_not_sure_gets_no_result(
    shared: Cluster, fake: FakeCluster, written: dict[str, str], text: str
) -> None:
    run = asked(shared, "3")
    assign(fake, run, **written)
    end(shared, fake, run)
    assert (run.verdict, run.card_key, run.card, codes(run)) == ("passed", "", None, ["card-unknown"])
    assert text in run.card_note
    assert not any(found.state == "validated" for found in validity.of_cards(c.pk for c in Card.objects.all()).values())


def test_a_failure_on_an_unknown_card_is_the_nodes(shared: Cluster, fake: FakeCluster) -> None:
    run = asked(shared, "3")
    assign(fake, run, assigned="false")
    end(shared, fake, run, FAILED, 1)
    assert (run.verdict, run.card_key) == ("failed", "")
    account = NodeTotals.objects.get(node_name="share")
    assert validity.of_nodes([account.pk])[account.pk].state == "failed"
    assert validity.of_cards([card_of(3).pk])[card_of(3).pk].state == "never"


def test_a_run_that_said_nothing_stays_where_it_was_to_go(shared: Cluster, fake: FakeCluster) -> None:
    run = asked(shared, "3")
    fake.end(run.job_name, b"nothing", 137, pod_reason="Evicted", message="low on memory")
    passed_by(run, shared)
    assert (run.verdict, run.card_key, run.card_evidence) == ("errored", "3", "target")


def test_pods_of_one_request_that_waited_together_may_have_been_mixed(shared: Cluster, fake: FakeCluster) -> None:
    run = asked(shared, "3")
    pod = fake.pod(run.job_name, node="share")
    created = datetime.fromisoformat(pod["metadata"]["creationTimestamp"])
    at = created + timedelta(seconds=1)
    assign(fake, run, **{f"{V1}_ASSUME_TIME": str(int(at.timestamp() * 1e9)), f"{V2}.assume-time": "1"})
    other = card_of(0)
    Allocation.objects.create(
        cluster=shared, node_name="share", card=other, card_key="0", pod_uid="other", namespace="team", pod="train",
        container="main", resource="aliyun.com/gpu-mem", stack="gpushare", mode="memory", quantity=1,
        evidence="annotation-v1", started_at=created, digest=0,
    )  # fmt: skip
    end(shared, fake, run)
    assert run.card_key == ""
    assert "Pod team/train requested the same memory on card 0" in run.card_note


def test_hami_says_which_card_it_gave(prod: Cluster, fake: FakeCluster) -> None:
    make_node(prod, "hami", "nvidia", 2, loads=(0.0,))
    node = Node.objects.get(name="hami")
    uuids = list(Card.objects.filter(node_name="hami").order_by("index").values_list("uuid", flat=True))
    register = "".join(f"{uuid},10,81920,100,NVIDIA-A100,0,true,{n},hami-core:" for n, uuid in enumerate(uuids))
    facts = node.facts.replace(
        '"uid":"node-hami"', f'"uid":"u","annotations":{{"hami.io/node-nvidia-register":"{register}"}}'
    )
    assert '"nvidia.com/gpu":"2"' in facts
    facts = facts.replace('"nvidia.com/gpu":"2"', '"nvidia.com/gpu":"20"')  # each card ten times, as it is registered
    Node.objects.filter(pk=node.pk).update(facts=facts)
    run = launched(prod, node="hami", card=uuids[0])
    assert run.card_key == uuids[0]
    pod = fake.pod(run.job_name, node="hami")
    pod["metadata"]["annotations"]["hami.io/vgpu-devices-allocated"] = f"{uuids[1]},NVIDIA,1024,0:;"
    end(prod, fake, run)
    assert (run.card_key, run.card_evidence, codes(run)) == (uuids[1], "annotation", ["other-card"])


def test_the_kubelet_says_which_device_it_gave(prod: Cluster, fake: FakeCluster) -> None:
    run = launched(prod, node="gpu-1")
    fake.end(run.job_name, PASSED)
    status = [{"name": "nvidia.com/gpu", "resources": [{"resourceID": "GPU-gpu-1-2", "health": "Healthy"}]}]
    fake.pods[run.job_name]["status"]["containerStatuses"][0]["allocatedResourcesStatus"] = status
    passed_by(run, prod)
    assert (run.card_key, run.card_evidence) == ("GPU-gpu-1-2", "device-status")


def test_a_node_that_only_counts_never_says_which_card(prod: Cluster, fake: FakeCluster) -> None:
    run = end(prod, fake, launched(prod, node="gpu-1", card="GPU-gpu-1-1"))
    assert (run.card_key, run.card_evidence, codes(run)) == ("", "count-only", ["card-unknown"])


def test_what_ran_on_another_node_says_nothing_of_this_one(prod: Cluster, fake: FakeCluster) -> None:
    run = launched(prod, node="gpu-1")
    fake.end(run.job_name, PASSED, node="gpu-2")
    passed_by(run, prod)
    assert (run.verdict, codes(run)[0]) == ("errored", "wrong-node")


def test_a_full_card_is_refused_though_the_node_has_room(shared: Cluster) -> None:
    with pytest.raises(Refused, match=r"Card 2 has 0 of \d+ required \S+ free. \(no-free\)"):
        request_run(wish(node="share", card="2"))
    assert plan(wish(node="share", card="1", options={"gpu_memory_mib": 9 * 1024})).reasons == []
    assert [one.code for one in plan(wish(node="share", card="1", options={"gpu_memory_mib": 10 * 1024})).reasons] == [
        "no-free"
    ]


def test_where_the_room_of_a_card_is_not_known_the_scheduler_chooses(shared: Cluster) -> None:
    NodeTotals.objects.filter(node_name="share").update(memory_unplaced_bytes=None)
    wanted = plan(wish(node="share", card="3"))
    assert wanted.card is None
    assert "nodeName" not in wanted.manifest["spec"]["template"]["spec"]
    NodeTotals.objects.filter(node_name="share").update(memory_unplaced_bytes=15 * 2**30)
    assert [one.code for one in plan(wish(node="share", card="3")).reasons] == ["no-free"]


def test_a_run_waits_in_the_queue_while_its_card_is_full(shared: Cluster, fake: FakeCluster) -> None:
    run, _ = request_run(wish(node="share", card="2", queue_if_full=True))
    passed_by(run, shared)
    assert (run.state, fake.created) == ("queued", [])
    assert run.pending_message == "Card 2 has 0 of 1 required units free."
    Card.objects.filter(pk=card_of(2).pk).update(memory_free_bytes=2 * 2**30)
    later(run, 6)
    passed_by(run, shared)
    assert fake.created == [run.job_name]


def test_a_run_waits_while_the_node_is_not_ready(shared: Cluster, fake: FakeCluster) -> None:
    run, _ = request_run(wish(node="share", card="3"))
    Node.objects.filter(name="share").update(ready=False)
    assert passed_by(run, shared).pending_message == "Node share is not ready."


def test_two_runs_are_never_on_their_way_to_cards_of_one_node_together(shared: Cluster, fake: FakeCluster) -> None:
    first, _ = request_run(wish(node="share", card="3"))
    second, _ = request_run(wish(node="share", card="0"))
    passed_by(second, shared, times=2)
    assert fake.created == [first.job_name]
    assert f"Run {first.pk} is pending for a card on this node" in second.pending_message
    assign(fake, first)
    fake.pod(first.job_name, node="share", running=True)
    passed_by(second, shared)
    later(second, 6)
    passed_by(second, shared)
    assert fake.created == [first.job_name, second.job_name]
    first.refresh_from_db()
    assert first.card_evidence == "annotation-v2"


def test_a_pod_of_others_that_is_assumed_with_the_same_request_is_waited_for(
    shared: Cluster, fake: FakeCluster
) -> None:
    pod = make_pending_pod(shared, "train", quantity=1)
    facts = (
        f'{{"metadata":{{"name":"train","namespace":"team-a","annotations":{{"{V1}_IDX":"0","{V1}_ASSIGNED":"false"}}}},'
        '"spec":{"nodeName":"share","containers":[{"resources":{"limits":{"aliyun.com/gpu-mem":"1"}}}]},"status":{"phase":"Pending"}}'
    )
    PodRow.objects.filter(pk=pod.pk).update(node_name="share", facts=facts)
    run, _ = request_run(wish(node="share", card="3"))
    passed_by(run, shared)
    assert "team-a/train is pending on this node with the same memory request" in run.pending_message
    PodRow.objects.filter(pk=pod.pk).update(facts=facts.replace('_ASSIGNED":"false"', '_ASSIGNED":"true"'))
    later(run, 6)
    assert passed_by(run, shared).state == "pending"


def test_the_pod_of_a_run_that_is_gone_is_looked_up_in_the_mirror(shared: Cluster, fake: FakeCluster) -> None:
    run = launched(shared, node="share")
    pod = fake.pod(run.job_name, node="share", running=True)
    passed_by(run, shared)
    card = card_of(1)
    Allocation.objects.create(
        cluster=shared, node_name="share", card=card, card_key=card.key, pod_uid=pod["metadata"]["uid"], namespace="n",
        pod="p", container="suite", resource="aliyun.com/gpu-mem", stack="gpushare", mode="memory", quantity=1,
        evidence="annotation-v1", started_at=timezone.now(), ended_at=timezone.now(), digest=0,
    )  # fmt: skip
    fake.end(run.job_name, PASSED)
    fake.pods[run.job_name]["metadata"]["annotations"] = {}
    passed_by(run, shared)
    assert (run.card_key, run.card_evidence) == ("1", "annotation-v1")
