"""REST's reference as a page: everything that the document has, with links that lead somewhere, without a script."""

from __future__ import annotations

import json
import re
import shlex
from html import unescape
from typing import Any

import pytest
from django.test import Client
from drf_spectacular.generators import SchemaGenerator

from pages import openapi
from pages.openapi import Word
from tests.pages.reading import get

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def document() -> Any:
    return SchemaGenerator().get_schema(request=None, public=True)


def test_every_operation_and_shape_has_its_place_and_every_link_leads_to_one(viewer: Client, document: Any) -> None:
    page = get(viewer, "/api-docs")
    ids = [attributes["id"] for _tag, attributes in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    operations = {one["operationId"] for methods in document["paths"].values() for one in methods.values()}
    assert operations <= set(ids)
    assert {f"shape-{name}" for name in document["components"]["schemas"]} <= set(ids)
    assert {link.removeprefix("#") for link in page.links if link.startswith("#")} <= set(ids)


def test_every_parameter_and_field_is_on_it(viewer: Client, document: Any) -> None:
    text = get(viewer, "/api-docs").text
    fields = {name for one in document["components"]["schemas"].values() for name in one.get("properties", ())}
    parameters = {
        field["name"]
        for methods in document["paths"].values()
        for one in methods.values()
        for field in one.get("parameters", ())
    }
    assert {name for name in fields | parameters if name not in text} == set()


def test_it_needs_nothing_from_elsewhere(viewer: Client) -> None:
    page = get(viewer, "/api-docs")
    assert not {one.get("src", "") for one in page.tags_of("script")} - {
        one["src"] for one in get(viewer, "/").tags_of("script")
    }
    assert set(re.findall(r"https?://[^/'<]+", unescape(page.html))) <= {"http://testserver"}


def test_a_body_of_an_example_is_taken(viewer: Client, document: Any) -> None:
    """What stands after -d is JSON with all that the shape requires."""
    (run,) = [one for group in openapi.groups(document) for one in group.operations if one.anchor == "runs_create"]
    arguments = shlex.split(run.call.replace("\\\n", " "))
    body = json.loads(arguments[arguments.index("-d") + 1])
    assert body.keys() >= set(document["components"]["schemas"]["RunDraftRequest"].get("required", ()))
    assert "Idempotency-Key: $(uuidgen)" in arguments
    assert arguments[:3] == ["curl", "-X", "POST"]


def test_types_are_called_by_words_with_links_to_shapes() -> None:
    card = {"$ref": "#/components/schemas/Card"}
    assert openapi.type_of({"type": "array", "items": card}) == [Word("list of "), Word("Card", "Card")]
    assert openapi.type_of({"anyOf": [{"type": "integer"}, {"type": "null"}]}) == [
        Word("integer"),
        Word(" or "),
        Word("null"),
    ]
    assert openapi.type_of({"enum": ["a", None]}) == [Word("one of a, null")]
    assert openapi.type_of({"type": ["string", "null"], "format": "date-time"})[0] == Word("string (date-time)")


def test_an_example_of_a_shape_that_holds_itself_ends() -> None:
    node = {"type": "object", "required": ["inner"], "properties": {"inner": {"$ref": "#/components/schemas/Node"}}}
    made = openapi.example({"components": {"schemas": {"Node": node}}}, {"$ref": "#/components/schemas/Node"})
    assert json.dumps(made).count("inner") < 6


def test_its_frame_is_in_the_language_of_the_reader(viewer: Client) -> None:
    viewer.post("/i18n/setlang/", {"language": "zh-hans", "next": "/"})
    page = get(viewer, "/api-docs")
    assert "参数" in page.text
    assert {"lang": "en"} in page.tags_of("tbody")
