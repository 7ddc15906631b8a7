"""The OpenAPI document is valid, and what the service answers is what the document says."""

from __future__ import annotations

import io
import json
from typing import Any

import jsonschema
import pytest
from django.core.management import call_command
from django.test import Client
from django.test.utils import override_script_prefix
from drf_spectacular.generators import SchemaGenerator

from accounts.roles import Role
from inventory.models import Allocation, Card, Cluster
from tests.cast import bearer, make_token, make_user
from tests.factories import end_allocation, make_finding, make_node, make_pending_pod
from tests.pages.validations.rows import make_run
from tests.processes import ROOT

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def document() -> Any:
    out = io.StringIO()
    call_command("spectacular", "--validate", "--format", "openapi-json", stdout=out)
    return json.loads(out.getvalue())


def test_the_document_is_made_without_a_warning() -> None:
    call_command("spectacular", "--validate", "--fail-on-warn", stdout=io.StringIO())


def test_the_committed_document_is_that_of_the_code() -> None:
    """A change of REST is seen in review."""
    out = io.StringIO()
    call_command("spectacular", stdout=out)
    assert (ROOT / "docs" / "openapi.yaml").read_text(encoding="utf-8") == out.getvalue().rstrip("\n") + "\n", (
        "run make openapi"
    )


def schema_of(
    document: Any, path: str, status: str = "200", kind: str = "application/json", method: str = "get"
) -> Any:
    answer = document["paths"][path][method]["responses"][status]
    if "$ref" in answer:
        answer = document["components"]["responses"][answer["$ref"].rpartition("/")[2]]
    found = answer["content"][kind]["schema"]
    return found | {"components": document["components"]}


def check(document: Any, path: str, answer: Any) -> None:
    jsonschema.Draft202012Validator(schema_of(document, path)).validate(answer)


@pytest.fixture
def crowded(fleet: Cluster) -> Cluster:
    """Rows in every state that an answer can show."""
    make_pending_pod(fleet)
    make_finding(fleet)
    end_allocation(Allocation.objects.order_by("id")[0])
    Cluster.objects.update(permissions=[{"verb": "list", "resource": "pods", "allowed": None}, "odd"])
    return fleet


@pytest.mark.parametrize(
    ("path", "query"),
    [
        ("/api/v1/summary", ""),
        ("/api/v1/clusters", ""),
        ("/api/v1/nodes", "?page_size=3"),
        ("/api/v1/cards", "?removed=any"),
        ("/api/v1/allocations", "?ended=any"),
        ("/api/v1/pods", ""),
        ("/api/v1/findings", ""),
        ("/api/v1/components", ""),
        ("/api/v1/component-changes", ""),
        ("/api/v1/tokens", ""),
    ],
)
def test_what_a_list_answers_is_what_the_document_says(
    document: Any, crowded: Cluster, api: Client, path: str, query: str
) -> None:
    answer = api.get(path + query).json()
    assert answer.get("results") or answer.get("clusters")
    check(document, path, answer)


def test_what_a_detail_answers_is_what_the_document_says(document: Any, crowded: Cluster, api: Client) -> None:
    check(document, "/api/v1/clusters/{name}", api.get("/api/v1/clusters/prod").json())
    for number in range(7):
        check(document, "/api/v1/nodes/{cluster}/{name}", api.get(f"/api/v1/nodes/prod/gpu-{number:05d}").json())
    card = api.get("/api/v1/cards").json()["results"][0]["id"]
    check(document, "/api/v1/cards/{card_id}", api.get(f"/api/v1/cards/{card}").json())


def test_a_refusal_is_the_problem_that_the_document_says(document: Any, api: Client) -> None:
    for client, address, status in ((api, "/api/v1/cards?x=1", "400"), (Client(), "/api/v1/cards", "401")):
        answer = client.get(address)
        assert answer.status_code == int(status)
        schema = schema_of(document, "/api/v1/cards", status, "application/problem+json")
        jsonschema.Draft202012Validator(schema).validate(answer.json())


def test_each_operation_says_with_what_it_refuses(document: Any) -> None:
    """A status that is not named is not answered: nothing stands for "all others"."""
    every = {
        f"{method} {path}": one["responses"] for path, all_ in document["paths"].items() for method, one in all_.items()
    }
    assert [name for name, answers in every.items() if "default" in answers] == []
    assert [
        name for name, answers in every.items() if not {"400", "401", "403", "406", "429", "503"} <= set(answers)
    ] == []
    assert [name for name, answers in every.items() if ("404" in answers) != ("{" in name)] == []
    verbs = (
        "runs",
        *(f"runs/{{run_id}}/{verb}" for verb in ("rerun", "cancel", "reparse")),
        "deliveries/{delivery_id}/send-again",
        *(f"out-of-service/{{case_id}}/{verb}" for verb in ("accept", "decline", "return")),
        *(f"campaigns/{{campaign_id}}/{verb}" for verb in ("pause", "resume", "stop")),
        *("campaigns/{campaign_id}/certificate", "policies/{policy_id}/certificate"),
    )
    in_the_way = {
        *(f"post /api/v1/{name}" for name in verbs),
        "patch /api/v1/users/{user_id}",
        "get /api/v1/signing-key",
    }
    assert {name for name, answers in every.items() if "409" in answers} == in_the_way
    assert {"304", "413"}.isdisjoint(every["get /api/v1/runs"])
    assert "304" in every["get /api/v1/cards"]
    assert {"413", "415", "422"} <= set(every["post /api/v1/runs"])


def test_programs_that_read_the_document_find_times(document: Any) -> None:
    """What generators of clients need (tests/restclient)."""
    schemas = document["components"]["schemas"]
    run = schemas["RunDetail"]["properties"]
    assert run["created_at"]["format"] == "date-time"
    assert run["ended_at"]["anyOf"] == [{"type": "string", "format": "date-time"}, {"type": "null"}]
    moments = [
        (name, field)
        for name, schema in schemas.items()
        for field, one in schema.get("properties", {}).items()
        if field.endswith("_at") and "date-time" not in json.dumps(one)
    ]
    assert moments == []


def test_a_wrong_answer_would_be_noticed(document: Any, crowded: Cluster, api: Client) -> None:
    answer = api.get("/api/v1/cards").json()
    answer["results"][0]["memory_total_bytes"] = "8Gi"
    with pytest.raises(jsonschema.ValidationError):
        check(document, "/api/v1/cards", answer)


def test_the_new_token_answers_as_the_document_says(document: Any, viewer: Client) -> None:
    made = viewer.post("/api/v1/tokens", {"name": "x", "role": "viewer"}, content_type="application/json").json()
    jsonschema.Draft202012Validator(schema_of(document, "/api/v1/tokens", "201", method="post")).validate(made)


def test_every_filter_is_in_the_document(document: Any) -> None:
    names = {parameter["name"] for parameter in document["paths"]["/api/v1/cards"]["get"]["parameters"]}
    assert {"cluster", "node", "state", "min_free_bytes", "ordering", "cursor", "page_size", "q"} <= names


def test_the_document_is_served(document: Any, viewer: Client) -> None:
    served = viewer.get("/api/v1/schema", headers={"Accept-Language": "zh-hans"})
    assert served.headers["Content-Type"] == "application/vnd.oai.openapi+json"
    assert served.json() == document | {"servers": [{"url": "/"}]}


def test_the_document_is_made_once(viewer: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    viewer.get("/api/v1/schema")
    monkeypatch.delattr(SchemaGenerator, "get_schema")
    assert viewer.get("/api/v1/schema").status_code == 200


def test_below_a_path_its_addresses_are_there(viewer: Client) -> None:
    with override_script_prefix("/gpu/"):
        assert viewer.get("/api/v1/schema").json()["servers"] == [{"url": "/gpu/"}]


def test_no_operation_is_described_with_words_for_who_writes_views(document: Any) -> None:
    texts = [one.get("description", "") for methods in document["paths"].values() for one in methods.values()]
    assert [text for text in texts if text.startswith(("A view", "One list of"))] == []


def test_what_a_run_launched_again_answers_is_named_each_time(document: Any, cluster: Cluster) -> None:
    """The same key gives the same run: 200 and no 201. While it is there, another request for its place is in conflict."""
    make_node(cluster, "gpu-1", "nvidia", 1, loads=(0.0,))
    run = make_run(cluster, card=Card.objects.get())
    program = bearer(make_token(make_user("olga", Role.OPERATOR), Role.OPERATOR))
    address, path = f"/api/v1/runs/{run.pk}/rerun", "/api/v1/runs/{run_id}/rerun"
    for key, status in (("a", 201), ("a", 200), ("b", 409)):
        answer = program.post(address, headers={"Idempotency-Key": key})
        assert answer.status_code == status, answer.content
        kind = answer.headers["Content-Type"]
        jsonschema.Draft202012Validator(schema_of(document, path, str(status), kind, "post")).validate(answer.json())
        named = document["paths"][path]["post"]["responses"][str(status)].get("headers", {})
        assert named.keys() <= answer.headers.keys()


def test_the_sums_of_idle_allocations_have_the_filters_of_the_list(document: Any) -> None:
    def named(path: str) -> set[str]:
        return {one["name"] for one in document["paths"][path]["get"]["parameters"]}

    other = {"cursor", "page_size", "ordering", "format"}
    assert named("/api/v1/idle/sums") == (named("/api/v1/idle") - other) | {"by"}
