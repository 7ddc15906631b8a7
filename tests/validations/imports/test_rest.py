"""/api/v1/results: sent once, looked at before, told in full, and the file as it came; by those who may."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.roles import Role
from audit.models import Entry
from inventory.models import Cluster
from tests.cast import bearer, make_token, make_user
from tests.factories import make_cluster, make_node
from tests.scopes.world import scoped_token
from tests.validations.imports.test_golden import ROOT
from validations.models import ImportedResult

pytestmark = pytest.mark.django_db
FAIL = (ROOT / "dcgm-3.3.9-r2-memory-fail.json").read_text()
EVENT = ROOT / "nvsentinel-cloudevent-xid95.json"
URL = "/api/v1/results"


@pytest.fixture
def prod() -> Cluster:
    cluster = make_cluster("prod")
    make_node(cluster, "gpu-1", "hami", 2)
    return cluster


@pytest.fixture
def api() -> Client:
    return bearer(make_token(make_user("olga", Role.OPERATOR), Role.OPERATOR))


def draft(**more: Any) -> dict[str, Any]:
    return {"format": "dcgmi-diag", "content": FAIL, "cluster": "prod", "node": "gpu-1", **more}


def send(client: Client, body: Any, path: str = URL, **more: Any) -> Any:
    return client.post(
        path, body if isinstance(body, str) else json.dumps(body), content_type="application/json", **more
    )


def test_a_result_is_sent_once(prod: Cluster, api: Client) -> None:
    first = send(api, draft())
    assert first.status_code == 201
    told = first.json()
    assert first.headers["Location"] == f"{URL}/{told['id']}"
    again = send(api, draft())
    assert (again.status_code, again.json()["id"]) == (200, told["id"])
    assert api.get(first.headers["Location"]).json() == told
    assert (told["verdict"], told["level"], told["cluster"], told["sent_by"]) == ("failed", "reported", "prod", "olga")
    assert told["authenticated_by"].startswith("token gpd_")
    assert (told["tool_version"], told["complete"], told["facts"]["driver_version"]) == ("3.3.9", True, "535.183.06")
    [good, bad] = told["cards"]
    assert (good["verdict"], good["matched_by"], good["may_isolate"]) == ("passed", "index", False)
    assert (bad["verdict"], bad["error_id"], bad["error_severity"], bad["may_isolate"]) == ("failed", 4, 2, True)
    assert bad["card"]
    assert bad["because"].startswith("GPU Memory: failed: Detected 2 volatile")
    assert bad["wording"]["template"] == "{test}: {verdict}{text}"
    assert told["nodes"] == [
        {
            "node": "gpu-1",
            "verdict": "failed",
            "because": "Cards failed: 1.",
            "wording": {
                "template": "Cards {verdict}: {indexes}.",
                "arguments": {"verdict": {"template": "failed", "arguments": {}}, "indexes": "1"},
            },
            "test": None,
            "matched": True,
        }
    ]
    [entry] = Entry.objects.filter(action="result-import")
    assert (entry.actor, entry.target) == ("olga", "prod dcgmi-diag")


def test_a_preview_writes_nothing_and_tells_what_the_command_prints(prod: Cluster) -> None:
    viewer = bearer(make_token(make_user("vera", Role.VIEWER)))
    told = send(viewer, draft(), f"{URL}/preview")
    assert told.status_code == 200
    assert list(told.json()) == ["format", "tool_version", "verdict", "complete", "nodes", "cards", "measurements"]
    assert told.json()["cards"][1]["may_isolate"]
    assert not ImportedResult.objects.exists()
    assert send(viewer, draft()).status_code == 403


def test_the_file_comes_back_as_it_was_and_is_saved_not_shown(prod: Cluster, api: Client) -> None:
    made = send(api, draft()).json()["id"]
    answer = api.get(f"{URL}/{made}/original")
    assert answer.content.decode() == FAIL
    assert answer.headers["Content-Type"] == "application/octet-stream"
    assert answer.headers["Content-Disposition"] == f'attachment; filename="dcgmi-diag-{made}-report"'
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert "sandbox" in answer.headers["Content-Security-Policy"]
    assert api.get(f"{URL}/{made}/original?file=rules").status_code == 404
    assert api.get(f"{URL}/{made}/original?file=other").status_code == 400
    assert api.get(f"{URL}/none/original").status_code == 404


def test_an_event_is_a_body_of_its_own_and_answered_alike_each_time(prod: Cluster, api: Client) -> None:
    event = EVENT.read_text()
    answers = [api.post(URL, event, content_type="application/cloudevents+json") for _ in range(2)]
    assert [one.status_code for one in answers] == [202, 202]
    assert answers[0].json() == answers[1].json()
    told = answers[0].json()
    assert (told["format"], told["verdict"]) == ("nvsentinel-cloudevent", "skipped")
    assert told["facts"]["trigger"] == {"by": "health-event", "run_after": "recovery"}
    batch = api.post(URL, f"[{event}]", content_type="application/cloudevents-batch+json")
    assert (batch.status_code, batch.json()["id"]) == (202, told["id"])
    assert api.post(URL, b"\xff", content_type="application/cloudevents+json").status_code == 400


@pytest.mark.parametrize(
    ("body", "field", "text"),
    [
        (draft(format="none"), "format", "Must be one of: dcgmi-diag"),
        (draft(content="{"), "content", "Line 1"),
        (draft(content='{"DCGM Diagnostic": '), "content", "Line 1: the JSON ends early."),
        (draft(cluster="none"), "cluster", "No cluster 'none'"),
        (draft(rules="x"), "rules", "Does not belong to the format dcgmi-diag."),
        (draft(other=1), "other", "There is no such field"),
        ({"format": "junit"}, "content", "Required"),
        (draft(content="x\0"), "content", "null character"),
    ],
)
def test_a_body_that_is_wrong_names_its_field(prod: Cluster, api: Client, body: Any, field: str, text: str) -> None:
    answer = send(api, body)
    assert answer.status_code == 400
    assert [one for one in answer.json()["errors"] if one["field"] == field and text in one["detail"]], answer.json()


def test_only_within_the_scope(prod: Cluster) -> None:
    make_cluster("other")
    olga = make_user("olga", Role.OPERATOR)
    of_other = bearer(scoped_token(olga, "other", role=Role.OPERATOR))
    of_namespace = bearer(scoped_token(olga, "prod/team-a", role=Role.OPERATOR))
    assert send(of_other, draft()).status_code == 400  # it sees no such cluster
    assert send(of_namespace, draft()).status_code == 403
    assert Entry.objects.filter(outcome="refused", actor="olga").exists()
    made = send(bearer(make_token(olga, Role.OPERATOR)), draft()).json()["id"]
    assert of_other.get(f"{URL}/{made}").status_code == 404
    seen = of_namespace.get(f"{URL}/{made}").json()
    assert (seen["verdict"], seen["facts"], seen["cards"][1]["because"]) == ("failed", {}, None)
    assert of_namespace.get(f"{URL}/{made}/original").status_code == 404


def test_the_list_has_filters(prod: Cluster, api: Client) -> None:
    send(api, draft())
    send(api, draft(content=(ROOT / "dcgm-4.6.0-pass.json").read_text(), node="elsewhere"))
    for query, count in (
        ("", 2),
        ("result_format=dcgmi-diag&verdict=failed", 1),
        ("node=gpu-1", 1),
        ("may_isolate=true", 1),
        ("may_isolate=false", 1),
        ("unmatched=true", 1),
        ("cluster=prod&sent_by=olga", 2),
        ("q=dcgmi+3.3", 1),
        ("ordering=verdict", 2),
    ):
        answer = api.get(f"{URL}?{query}").json()
        assert len(answer.get("results", ())) == count, (query, answer)
    lines = b"".join(api.get(f"{URL}?format=csv").streaming_content).decode()  # type: ignore[attr-defined]
    assert lines.splitlines()[0].startswith("id,format,tool_version,cluster,level,verdict")


def test_the_list_has_as_many_queries_for_many(prod: Cluster, api: Client) -> None:
    for node in ("gpu-1", "a", "b", "c"):
        send(api, draft(node=node))
    counts = []
    for size in (1, 4):
        with CaptureQueriesContext(connection) as found:
            api.get(f"{URL}?page_size={size}")
        counts.append(len(found))
    assert counts[0] == counts[1]


@pytest.mark.parametrize("kind", ["application/json", "application/cloudevents+json"])
def test_a_compressed_body_is_refused_unread(prod: Cluster, api: Client, kind: str) -> None:
    """It could become any number of bytes."""
    body = gzip.compress(json.dumps(draft(content=" " * 5_000_000)).encode())
    answer = api.post(URL, body, content_type=kind, HTTP_CONTENT_ENCODING="gzip")
    assert answer.status_code == 400
    assert answer.json()["detail"] == "The body is compressed. Send it without Content-Encoding."
    assert not ImportedResult.objects.exists()


def test_a_body_too_large_is_refused_and_what_was_there_stays(prod: Cluster, api: Client) -> None:
    first = send(api, draft()).json()["id"]
    answer = send(api, draft(content="x" * (2 << 20)))
    assert answer.status_code == 413, answer.content
    for content in ("[" * 10_000, '{"a": 1, "a": 2}', "\x00", "9" * 5000):
        refused = send(api, draft(content=content))
        assert refused.status_code == 400, content[:20]
        assert [one["field"] for one in refused.json()["errors"]] == ["content"]
    assert [row.pk for row in ImportedResult.objects.all()] == [first]
