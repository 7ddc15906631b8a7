"""REST of suites, runs and campaigns, as a client meets it."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.groups import set_permissions
from accounts.roles import Role
from api.validations import metrics
from inventory.models import Cluster
from tests.cast import bearer, make_token, make_user
from tests.factories import make_node
from tests.validations.fakecluster import FakeCluster
from tests.validations.recorded import PASSED, launched, passed_by, wish
from validations import tasks
from validations.models import Run
from validations.requests import request_run

BODY = {"suite": "cuda-vectoradd", "node": "gpu-1"}


@pytest.fixture
def api(prod: Cluster) -> Client:
    """An operator with a token."""
    return bearer(make_token(make_user("olga", Role.OPERATOR), Role.OPERATOR))


def post(client: Client, path: str, body: Any = None, key: str = "") -> Any:
    headers = {"Idempotency-Key": key} if key else {}
    return client.post(f"/api/v1/{path}", body, content_type="application/json", headers=headers)


def get(client: Client, path: str) -> Any:
    return client.get(f"/api/v1/{path}")


def test_suites_come_with_their_options(api: Client) -> None:
    rows = get(api, "suites").json()["results"]
    assert {"cuda-vectoradd", "winml-tinyyolov2", "nccl-allreduce"} <= {row["id"] for row in rows}
    one = get(api, "suites/cuda-vectoradd").json()
    assert one["os"] == ["linux"]
    assert {"image", "deadline_s"} <= {option["name"] for option in one["options"]}
    assert get(api, "suites/nope").status_code == 404


def test_a_run_is_launched_followed_and_read(api: Client, prod: Cluster, fake: FakeCluster) -> None:
    answer = post(api, "runs", BODY)
    assert answer.status_code == 201
    run = answer.json()
    assert answer.headers["Location"] == f"/api/v1/runs/{run['id']}"
    assert (run["state"], run["verdict"], run["requested_by"], run["card"]) == ("queued", None, "olga", None)
    tasks.reconcile(prod.pk)
    fake.end(run["job"], PASSED)
    tasks.reconcile(prod.pk)
    done = get(api, f"runs/{run['id']}").json()
    assert (done["state"], done["verdict"], done["exit_code"]) == ("ended", "passed", 0)
    assert done["log"]["stored_bytes"] == len(PASSED)
    assert done["steps"][0]["state"] == "queued"
    assert done["manifest"]["kind"] == "Job"
    assert done["node_snapshot"]["driver_version"] == "550.54.15"


def test_the_same_key_gives_the_same_run_and_never_another(api: Client) -> None:
    first, second = post(api, "runs", BODY, "k1"), post(api, "runs", BODY, "k1")
    assert (first.status_code, second.status_code) == (201, 200)
    assert first.json()["id"] == second.json()["id"]
    other = post(api, "runs", BODY | {"options": {"deadline_s": 90}}, "k1")
    assert other.status_code == 422
    assert first.json()["id"] in other.json()["detail"]
    assert post(api, "runs", BODY | {"suite": "nvidia-smi"}, "x" * 300).status_code == 400


def test_a_place_that_is_held_answers_409_with_the_run(api: Client) -> None:
    holder = post(api, "runs", BODY).json()["id"]
    answer = post(api, "runs", BODY)
    assert answer.status_code == 409
    assert holder in answer.json()["detail"]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"suite": "nope"}, "suite"),
        ({"suite": None}, "suite"),
        ({"node": "gone"}, "node"),
        ({"node": "a\0b"}, "node"),
        ({"cluster": "nowhere"}, "cluster"),
        ({"card": "99"}, "card"),
        ({"options": {"deadline_s": 1}}, "options.deadline_s"),
        ({"options": {"nope": 1}}, "options.nope"),
        ({"options": []}, "options"),
        ({"colour": "red"}, "colour"),
        ({"suite": "winml-tinyyolov2"}, "node"),
        ({"queue_if_full": "yes"}, "queue_if_full"),
    ],
)
def test_what_makes_no_sense_is_a_400_with_the_field(api: Client, change: dict[str, Any], field: str) -> None:
    answer = post(api, "runs", BODY | change)
    assert answer.status_code == 400, answer.content
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert {error["field"] for error in answer.json()["errors"]} == {field}
    assert Run.objects.count() == 0


@pytest.mark.parametrize("body", ["[]", "7", '"x"', "{", "null", "[1, 2]"])
def test_a_body_that_is_no_object_is_a_400(api: Client, body: str) -> None:
    answer = api.post("/api/v1/runs", body, content_type="application/json")
    assert answer.status_code == 400


def test_a_full_node_is_refused_unless_the_run_may_wait(api: Client, prod: Cluster) -> None:
    make_node(prod, "full", "nvidia", 1, loads=(1.0,))
    refused = post(api, "runs", BODY | {"node": "full"})
    assert refused.status_code == 400
    assert "no-free" in refused.json()["detail"]
    assert post(api, "runs", BODY | {"node": "full", "queue_if_full": True}).status_code == 201


def test_a_preview_shows_manifest_and_reasons_and_launches_nothing(api: Client, prod: Cluster) -> None:
    found = post(api, "runs/preview", BODY).json()
    assert (found["launchable"], found["reasons"], found["active_run"]) == (True, [], None)
    assert found["manifest"]["spec"]["backoffLimit"] == 0
    assert found["manifest"]["metadata"]["labels"]["app.kubernetes.io/managed-by"] == "gpudash"
    make_node(prod, "win", "directx", 1)
    other = post(api, "runs/preview", BODY | {"node": "win"}).json()
    assert (other["launchable"], other["manifest"]) == (False, None)
    assert "wrong-os" in [reason["code"] for reason in other["reasons"]]
    assert Run.objects.count() == 0


def test_a_run_is_cancelled_and_launched_again(api: Client, prod: Cluster) -> None:
    run = post(api, "runs", BODY).json()["id"]
    assert post(api, f"runs/{run}/cancel").status_code == 202
    tasks.reconcile(prod.pk)
    done = get(api, f"runs/{run}").json()
    assert (done["verdict"], done["reasons"][0]["text"]) == ("errored", "Cancelled by olga.")
    assert post(api, f"runs/{run}/cancel").status_code == 409
    again = post(api, f"runs/{run}/rerun", key="k")
    assert (again.status_code, again.json()["rerun_of"]) == (201, run)
    assert post(api, f"runs/{run}/rerun", key="k").status_code == 200


def test_a_log_is_read_again_by_rest(api: Client, prod: Cluster, fake: FakeCluster) -> None:
    run = launched(prod)
    assert post(api, f"runs/{run.pk}/reparse").status_code == 409
    fake.end(run.job_name, PASSED)
    passed_by(run, prod)
    assert post(api, f"runs/{run.pk}/reparse").status_code == 202
    assert api.get(f"/api/v1/runs/{run.pk}").json()["reparse_requested_at"] is not None
    tasks.reparse_run(run.pk)
    told = api.get(f"/api/v1/runs/{run.pk}").json()
    assert (told["reparse_requested_at"], told["verdict"]) == (None, "passed")


def test_a_log_is_followed_by_offset(api: Client, prod: Cluster, fake: FakeCluster) -> None:
    run = launched(prod)
    fake.logs[run.job_name] = PASSED[:50]
    fake.pod(run.job_name, node="gpu-1", running=True)
    passed_by(run, prod)
    first = get(api, f"runs/{run.pk}/log")
    assert (first.content, first.headers["X-Next-Offset"], first.headers["X-Log-Ended"]) == (PASSED[:50], "50", "false")
    assert first.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert first.headers["X-Content-Type-Options"] == "nosniff"
    fake.end(run.job_name, PASSED)
    passed_by(run, prod)
    rest = get(api, f"runs/{run.pk}/log?offset=50")
    assert (first.content + rest.content, rest.headers["X-Log-Ended"]) == (PASSED, "true")
    assert get(api, f"runs/{run.pk}/log?offset=10&limit=5").content == PASSED[10:15]
    assert get(api, f"runs/{run.pk}/log?offset=99999").content == b""
    for wrong in ("offset=-1", "offset=x", "limit=99999999", "offset=١"):
        assert get(api, f"runs/{run.pk}/log?{wrong}").status_code == 400


@pytest.mark.parametrize(
    "path", ["runs/nope", "runs/nope/log", "campaigns/nope", "campaigns/nope/matrix", "suites/nope"]
)
def test_what_is_not_there_is_a_404(api: Client, path: str) -> None:
    assert get(api, path).status_code == 404
    assert get(api, path.replace("nope", "%00")).status_code == 404


def test_runs_are_filtered_ordered_and_paged(api: Client, prod: Cluster, fake: FakeCluster) -> None:
    runs = [launched(prod, suite=suite) for suite in ("cuda-vectoradd", "nvidia-smi", "cuda-nbody")]
    fake.end(runs[0].job_name, PASSED)
    passed_by(runs[0], prod)

    def ids(query: str) -> list[str]:
        return [row["id"] for row in get(api, f"runs?{query}").json()["results"]]

    newest_first = [run.pk for run in reversed(runs)]
    assert ids("") == newest_first
    assert ids("verdict=passed") == ids("active=false") == ids("q=vectoradd") == [runs[0].pk]
    assert ids("active=true") == newest_first[:2]
    assert ids("suite=nvidia-smi&suite=cuda-nbody&state=pending") == newest_first[:2]
    assert ids("ordering=suite")[0] == runs[2].pk
    page = get(api, "runs?page_size=2").json()
    rest = api.get(page["next"]).json()
    assert [row["id"] for row in page["results"] + rest["results"]] == newest_first
    for wrong in ("state=lost", "colour=red", "ordering=manifest", "active=maybe", "cursor=x"):
        assert get(api, f"runs?{wrong}").status_code == 400


def test_a_list_takes_as_many_queries_for_many_runs_as_for_one(api: Client, prod: Cluster) -> None:
    get(api, "runs")  # the token's first use is noted
    counts = []
    for suites in (("cuda-vectoradd",), ("nvidia-smi", "cuda-nbody", "dcgm-diag", "cuda-devicequery")):
        for suite in suites:
            request_run(wish(suite=suite))
        with CaptureQueriesContext(connection) as queries:
            assert get(api, "runs").status_code == 200
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_a_campaign_is_made_followed_and_stopped(api: Client, prod: Cluster, fake: FakeCluster) -> None:
    make_node(prod, "gpu-2", "nvidia", 1, loads=(0.0,))
    make_node(prod, "win", "directx", 1, loads=(0.0,))
    body = {"suite": "cuda-vectoradd", "selector": {"stack": "nvidia", "q": "gpu"}, "max_parallel": 2}
    answer = post(api, "campaigns", body, "k")
    assert answer.status_code == 201, answer.content
    assert post(api, "campaigns", body, "k").status_code == 200
    name = answer.json()["id"]
    assert answer.json()["progress"]["left"] == 2
    tasks.advance_campaigns()
    tasks.reconcile(prod.pk)
    run = Run.objects.get(node_name="gpu-1")
    fake.end(run.job_name, PASSED)
    tasks.reconcile(prod.pk)
    rows = get(api, f"campaigns/{name}/matrix").json()["results"]
    assert [(row["node"], row["verdict"]) for row in rows] == [("gpu-1", "passed"), ("gpu-2", None)]
    assert post(api, f"campaigns/{name}/pause").json()["state"] == "paused"
    assert post(api, f"campaigns/{name}/pause").status_code == 409
    assert post(api, f"campaigns/{name}/resume").json()["state"] == "running"
    assert post(api, f"campaigns/{name}/stop").json()["state"] == "stopped"
    assert get(api, "campaigns?state=stopped").json()["results"][0]["id"] == name


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"targets": []}, "targets"),
        ({"targets": [{"node": "gone"}]}, "targets"),
        ({"selector": {"colour": "red"}, "targets": []}, "selector.colour"),
        ({"selector": {"node": "gpu-1"}}, "targets"),
        ({"max_parallel": 0}, "max_parallel"),
        ({"suite": "nope"}, "suite"),
    ],
)
def test_a_campaign_that_makes_no_sense_is_a_400(api: Client, change: dict[str, Any], field: str) -> None:
    body: dict[str, Any] = {"suite": "cuda-vectoradd", "targets": [{"node": "gpu-1"}]}
    answer = post(api, "campaigns", body | change)
    assert answer.status_code == 400, answer.content
    assert [error["field"] for error in answer.json()["errors"]] == [field]


#: Path → body. Everybody who may look may preview; launching takes an operator.
CHANGES = ("runs", "runs/{run}/cancel", "runs/{run}/rerun", "runs/{run}/reparse", "campaigns", "campaigns/{run}/pause")
LOOKS = ("suites", "suites/nvidia-smi", "runs", "runs/{run}", "runs/{run}/log", "campaigns")


@pytest.mark.parametrize("role", Role)
def test_a_viewer_looks_and_an_operator_launches(prod: Cluster, role: Role) -> None:
    client = bearer(make_token(make_user("who", role), role))
    run, _ = request_run(wish())
    for path in LOOKS:
        assert get(client, path.format(run=run.pk)).status_code == 200, path
    assert post(client, "runs/preview", BODY).status_code == 200
    for path in CHANGES:
        answer = post(client, path.format(run=run.pk), {})
        assert (answer.status_code == 403) == (role is Role.VIEWER), (path, answer.content)


def test_nobody_gets_nothing(prod: Cluster) -> None:
    for path in (*LOOKS, *CHANGES, "runs/preview"):
        assert get(Client(), path.format(run="x")).status_code == 401
        assert post(Client(), path.format(run="x"), {}).status_code in (401, 403)


def test_the_groups_may_what_the_roles_say(prod: Cluster) -> None:
    set_permissions()
    launch = {role: make_user(role.value, role).has_perm("validations.add_run") for role in Role}
    assert launch == {Role.VIEWER: False, Role.OPERATOR: True, Role.ADMIN: True}


def test_the_scrape_tells_last_verdicts_and_states(prod: Cluster, fake: FakeCluster) -> None:
    make_node(prod, "one", "nvidia", 1, loads=(0.0,))
    for node in ("gpu-1", "one"):
        run = launched(prod, node=node)
        fake.end(run.job_name, PASSED)
        passed_by(run, prod)
    launched(prod, suite="nvidia-smi")
    text = "".join(metrics.families())
    card = 'cluster="prod",node="one",card="GPU-one-0",uuid="GPU-one-0",model="A100-SXM4-80GB",stack="nvidia",suite="cuda-vectoradd"'
    assert f'gpudash_validation_run_last_verdict{{{card},verdict="passed"}} 1\n' in text
    node = 'cluster="prod",node="gpu-1",card="",uuid="",model="",stack="",suite="cuda-vectoradd"'
    assert f'gpudash_validation_run_last_verdict{{{node},verdict="passed"}} 1\n' in text
    assert f"gpudash_validation_run_last_end_timestamp_seconds{{{card}}}" in text
    assert 'gpudash_validation_runs{state="pending"} 1\n' in text
    assert 'gpudash_validation_runs{state="queued"} 0\n' in text
