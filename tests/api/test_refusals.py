"""Refusals of REST in plain words: each names its field, and several stand as sentences."""

from __future__ import annotations

import pytest
from django.test import Client

from api.frame.bodies import in_words
from api.frame.problems import must_be
from api.urls import RESOURCES
from inventory.models import Cluster

#: What msgspec says → field, what REST says.
SAID: dict[str, tuple[str, str]] = {
    "Object missing required field `until`": ("until", "Required."),
    "Object missing required field `k` - at `$.l[0]`": ("l[0].k", "Required."),
    "Invalid RFC3339 encoded datetime - at `$.until`": ("until", "Must be a time such as 2026-01-31T12:00:00Z."),
    "Expected `datetime | null`, got `int` - at `$.until`": ("until", "Must be a time such as 2026-01-31T12:00:00Z."),
    "Expected `int | null`, got `str` - at `$.max_per_pool`": ("max_per_pool", "Must be an integer or null."),
    "Expected `int` >= 1 - at `$.hours`": ("hours", "Must be >= 1."),
    "Expected `int`, got `str` - at `$.options[...]`": ("options[...]", "Must be an integer."),
    "Invalid enum value 'q' - at `$.how`": ("how", "Invalid enum value 'q'."),
}


@pytest.mark.parametrize("said", SAID)
def test_what_is_wrong_with_a_body_is_in_plain_words(said: str) -> None:
    assert in_words(said) == SAID[said]


def test_words_that_may_stand_there_are_named() -> None:
    assert must_be(["json"]) == "Must be json."
    assert must_be(["json", "csv"]) == "Must be one of: json, csv."


def test_a_format_that_is_not_there_names_those_that_are(api: Client, db: None) -> None:
    assert api.get("/api/v1/nodes?format=xml").json()["detail"] == "format: Must be one of: json, csv."


def test_several_refusals_are_sentences(api: Client, db: None) -> None:
    found = api.get("/api/v1/policies/compare?limit=0&loss=x").json()["detail"]
    assert found == "loss: Must be one of: failed, slower, not-tested. limit: Must be an integer from 1 to 1000."


def test_a_parameter_that_is_not_there_is_refused_everywhere(api: Client, fleet: Cluster) -> None:
    """A typing error in a filter must not look like an answer without it. The schema is answered by a library."""
    taken = [name for name in RESOURCES if name != "schema" and api.get(f"/api/v1/{name}?nope=1").status_code != 400]
    assert taken == []


def test_a_cluster_that_is_not_there_is_no_waste(api: Client, fleet: Cluster) -> None:
    found = api.get("/api/v1/waste?cluster=nope")
    assert (found.status_code, found.json()["detail"]) == (400, "cluster: There is no cluster 'nope'. There are: prod.")
