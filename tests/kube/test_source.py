"""Where a kind is read: in the version that the API server has, and in another one after an upgrade."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from kube.client import ApiError
from kube.source import NotServed, Source
from tests.kube.scripted import Answer, ScriptedServer, ok, refusal
from tests.kube.words import client

Serve = Callable[..., ScriptedServer]
SLICES, VERSIONS = "/apis/resource.k8s.io/v1/resourceslices", ("v1", "v1beta2", "v1beta1")


def group(*versions: str) -> Answer:
    return ok({"kind": "APIGroup", "versions": [{"version": version} for version in versions]})


def resources(*names: str) -> Answer:
    return ok({"kind": "APIResourceList", "resources": [{"name": name} for name in names]})


def located(folder: Path, server: ScriptedServer, source: Source) -> str:
    source.locate(client(folder, server.url))
    return source.path


def test_the_best_version_that_is_served_is_taken(serve: Serve, tmp_path: Path) -> None:
    server = serve(group("v1beta1", "v1beta2"), resources("resourceclaims", "resourceslices"))
    assert located(tmp_path, server, Source(SLICES, VERSIONS)) == "/apis/resource.k8s.io/v1beta2/resourceslices"
    assert [asked.path for asked in server.asked] == ["/apis/resource.k8s.io", "/apis/resource.k8s.io/v1beta2"]


def test_it_is_asked_for_once(serve: Serve, tmp_path: Path) -> None:
    server, source = serve(group("v1"), resources("resourceslices")), Source(SLICES, VERSIONS)
    assert located(tmp_path, server, source) == located(tmp_path, server, source) == SLICES
    assert len(server.asked) == 2


def test_a_version_without_the_kind_is_passed_over(serve: Serve, tmp_path: Path) -> None:
    server = serve(group("v1", "v1beta1"), resources("deviceclasses"), resources("resourceslices"))
    assert located(tmp_path, server, Source(SLICES, VERSIONS)) == "/apis/resource.k8s.io/v1beta1/resourceslices"


@pytest.mark.parametrize(
    "answers",
    [
        [refusal(404, "NotFound")],
        [Answer(b"404 page not found\n", 404)],
        [group()],
        [group("v1alpha3")],
        [group("v1"), refusal(404, "NotFound")],
        [group("v1"), resources()],
    ],
)
def test_what_is_not_served_is_said(serve: Serve, tmp_path: Path, answers: list[Answer]) -> None:
    with pytest.raises(NotServed, match="has no resourceslices of"):
        located(tmp_path, serve(*answers), Source(SLICES, VERSIONS))


@pytest.mark.parametrize(
    "answer",
    [
        refusal(500, "InternalError"),
        refusal(401, "Unauthorized"),
        Answer(b"<html>Sign in"),
        ok([]),
        ok({"versions": 5}),
    ],
)
def test_what_cannot_be_asked_is_not_taken_for_not_served(serve: Serve, tmp_path: Path, answer: Answer) -> None:
    with pytest.raises(ApiError) as failed:
        located(tmp_path, serve(answer), Source(SLICES, VERSIONS))
    assert not isinstance(failed.value, NotServed)


def test_a_path_that_is_certain_is_not_asked_for(serve: Serve, tmp_path: Path) -> None:
    server, source = serve(), Source("/api/v1/pods")
    assert located(tmp_path, server, source) == "/api/v1/pods"
    assert (server.asked, source.moved(client(tmp_path, server.url))) == ([], False)


def test_after_an_upgrade_it_is_found_elsewhere(serve: Serve, tmp_path: Path) -> None:
    beta = (group("v1beta1"), resources("resourceslices"))
    server, source = serve(*beta, *beta, group("v1"), resources("resourceslices")), Source(SLICES, VERSIONS)
    assert located(tmp_path, server, source).endswith("/v1beta1/resourceslices")
    assert not source.moved(client(tmp_path, server.url))
    assert source.moved(client(tmp_path, server.url))
    assert source.path == SLICES


def test_where_discovery_is_refused_each_version_is_tried_in_turn(serve: Serve, tmp_path: Path) -> None:
    server, source = serve(*[refusal(403, "Forbidden")] * 9), Source(SLICES, VERSIONS)
    asking = client(tmp_path, server.url)
    source.locate(asking)
    tried = [source.path]
    while source.moved(asking):
        tried.append(source.path)
        if len(tried) == 3:
            break
    assert [path.split("/")[3] for path in tried] == list(VERSIONS)
    with pytest.raises(NotServed, match="API discovery is denied"):
        source.moved(asking)
    source.locate(asking)
    assert source.path == SLICES
