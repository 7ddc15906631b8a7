"""What is posted is made anew by the worker: a row that somebody has written into puts nothing of his into the cluster."""

from __future__ import annotations

import json
from typing import Any

import pytest

from inventory.models import Cluster, Node, NodeTotals
from tests.factories import make_node
from tests.validations.fakecluster import FakeCluster
from tests.validations.recorded import PASSED, codes, launched, passed_by, wish
from validations.models import Run
from validations.requests import request_run


def waiting(**columns: Any) -> Run:
    """A queued run whose row was written into."""
    run, _ = request_run(wish())
    Run.objects.filter(pk=run.pk).update(**columns)
    run.refresh_from_db()
    return run


def evil(run: Run) -> dict[str, Any]:
    """The run's manifest with a shell on the host's disk."""
    manifest: dict[str, Any] = json.loads(json.dumps(run.manifest))
    pod = manifest["spec"]["template"]["spec"]
    pod["containers"][0] |= {"image": "evil", "securityContext": {"privileged": True}}
    pod["volumes"] = [{"name": "host", "hostPath": {"path": "/"}}]
    manifest["metadata"] |= {"namespace": "kube-system", "name": "evil"}
    return manifest


def test_the_manifest_of_the_row_is_not_what_is_posted(prod: Cluster, fake: FakeCluster) -> None:
    run, _ = request_run(wish())
    good = json.loads(json.dumps(run.manifest))
    Run.objects.filter(pk=run.pk).update(manifest=evil(run), namespace="kube-system", job_name="evil", image="evil")
    fake.namespaces.add("kube-system")
    passed_by(run, prod)
    posted = fake.jobs[f"gpudash-{run.pk}"]
    assert posted["spec"] == good["spec"]
    assert posted["metadata"]["namespace"] == "gpudash-validations"
    assert (run.state, run.manifest["spec"], run.image) == (
        "pending",
        good["spec"],
        good["spec"]["template"]["spec"]["containers"][0]["image"],
    )
    assert run.namespace == "gpudash-validations"
    assert not any("kube-system" in call for call in fake.calls)


def test_only_what_has_the_runs_own_name_is_read_and_deleted(prod: Cluster, fake: FakeCluster) -> None:
    other = launched(prod, suite="nvidia-smi")
    fake.end(other.job_name, b"a secret of another run")
    run = launched(prod)
    Run.objects.filter(pk=run.pk).update(
        job_name=other.job_name, namespace="kube-system", pod_name=f"{other.job_name}-abcde", state="running"
    )
    Run.objects.filter(pk=run.pk).update(cancel_requested_at=run.created_at)
    fake.calls.clear()
    passed_by(run, prod)
    assert codes(run)[0] == "cancelled"
    touched = [call for call in fake.calls if call.startswith("DELETE") or call.endswith("/log")]
    assert f"DELETE /apis/batch/v1/namespaces/gpudash-validations/jobs/gpudash-{run.pk}" in touched
    assert not [call for call in touched if "kube-system" in call]
    assert not run.log_stored


@pytest.mark.parametrize(
    ("columns", "code"),
    [
        ({"suite": "of-another-version"}, "suite-missing"),
        ({"node_name": "gone"}, "target-gone"),
        ({"card_requested": "GPU-gone"}, "target-gone"),
        ({"options": {"no_such": 1}}, "bad-arguments"),
        ({"options": ["x"]}, ""),
        ({"suite": "directx-directml"}, "wrong-os"),
    ],
)
def test_a_run_that_cannot_be_made_any_more_ends_with_the_reason(
    prod: Cluster, fake: FakeCluster, columns: dict[str, Any], code: str
) -> None:
    run = passed_by(waiting(**columns), prod)
    if not code:
        assert run.state == "pending"
        return
    assert (run.state, run.verdict, codes(run)[0]) == ("ended", "errored", code)
    assert run.job_removed
    assert fake.created == []


def test_a_run_that_was_sure_of_its_card_does_not_go_to_another(prod: Cluster, fake: FakeCluster) -> None:
    make_node(prod, "single", "nvidia", 1, loads=(0.0,))
    run, _ = request_run(wish(node="single"))
    assert run.card_evidence == "target"
    NodeTotals.objects.filter(node_name="single").update(cards_total=2)
    assert codes(passed_by(run, prod)) == ["place-changed"]
    assert fake.created == []


def test_a_node_that_is_full_or_not_ready_by_now_is_left_to_the_scheduler(prod: Cluster, fake: FakeCluster) -> None:
    run, _ = request_run(wish())
    Node.objects.filter(name="gpu-1").update(ready=False)
    assert passed_by(run, prod).state == "pending"
    fake.end(run.job_name, PASSED)
    assert passed_by(run, prod).verdict == "passed"
