"""The OpenAPI document is valid, and what the service answers is what the document says."""

from __future__ import annotations

import io
import json
from typing import Any

import jsonschema
import pytest
from django.core.management import call_command
from django.test import Client

from inventory.models import Allocation, Cluster
from tests.factories import end_allocation, make_finding, make_waiting_pod
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
    found = document["paths"][path][method]["responses"][status]["content"][kind]["schema"]
    return found | {"components": document["components"]}


def check(document: Any, path: str, answer: Any) -> None:
    jsonschema.Draft202012Validator(schema_of(document, path)).validate(answer)


@pytest.fixture
def crowded(fleet: Cluster) -> Cluster:
    """Rows in every state that an answer can show."""
    make_waiting_pod(fleet)
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
        ("/api/v1/cards", "?gone=any"),
        ("/api/v1/allocations", "?ended=any"),
        ("/api/v1/pods", ""),
        ("/api/v1/findings", ""),
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
    schema = schema_of(document, "/api/v1/cards", "default", "application/problem+json")
    validator = jsonschema.Draft202012Validator(schema)
    validator.validate(api.get("/api/v1/cards?x=1").json())
    validator.validate(Client().get("/api/v1/cards").json())


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


def test_the_document_is_served_and_the_page_to_read_it_loads_nothing_from_elsewhere(
    document: Any, viewer: Client
) -> None:
    served = viewer.get("/api/v1/schema").json()
    assert served["paths"].keys() == document["paths"].keys()
    page = viewer.get("/api-docs").content.decode()
    assert "swagger-ui-bundle.js" in page
    assert "http://" not in page
    assert "https://" not in page
    assert "<script>" not in page
