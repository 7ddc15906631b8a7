"""The door of the embedded API server: token, discovery, kubeconfig, and requests that make no sense."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from fleetsim import Fleet, Server, serve
from tests.fleetsim.client import Client
from tests.processes import ROOT


def test_without_the_token_every_object_is_refused_with_a_status(api: Client) -> None:
    for token in ("", "wrong", api.server.token + "x", "ü"):
        answer = api.request("GET", "/api/v1/nodes", token=token.encode().decode("latin-1"))
        status = json.loads(answer.data)
        assert (answer.status, status["kind"], status["reason"], status["code"]) == (401, "Status", "Unauthorized", 401)


def test_a_revoked_token_is_refused_and_the_new_one_works(api: Client) -> None:
    old = api.server.token
    new = api.server.revoke()
    assert api.request("GET", "/api/v1/nodes?limit=1", token=old).status == 401
    assert api.request("GET", "/api/v1/nodes?limit=1", token=new).status == 200


def test_health_and_version_are_open_to_anybody(api: Client) -> None:
    assert [api.request("GET", path, token="").status for path in ("/livez", "/readyz", "/version")] == [200, 200, 200]
    assert api.get("/version")["gitVersion"].startswith("v1.")


def test_discovery_names_each_kind_that_is_served(api: Client) -> None:
    served = {row["name"] for row in api.get("/api/v1")["resources"]}
    for group in api.get("/apis")["groups"]:
        assert api.get(f"/apis/{group['name']}")["versions"] == group["versions"]
        for version in group["versions"]:
            served |= {row["name"] for row in api.get(f"/apis/{version['groupVersion']}")["resources"]}
    wanted = {
        "nodes",
        "pods",
        "pods/log",
        "pods/proxy",
        "events",
        "namespaces",
        "daemonsets",
        "jobs",
        "selfsubjectaccessreviews",
    }
    assert served == wanted | {
        *("configmaps", "services", "deployments", "resourceslices", "resourceclaims"),
        *("clusterpolicies", "deviceconfigs", "priorityclasses"),
    }


def test_an_access_review_is_allowed_and_keeps_what_was_asked(api: Client) -> None:
    spec = {"resourceAttributes": {"verb": "list", "resource": "pods"}}
    review = api.post("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", {"spec": spec})
    assert (review["status"], review["spec"]) == ({"allowed": True}, spec)


@pytest.mark.parametrize(
    ("method", "path", "code", "reason"),
    [
        ("GET", "/api/v1/nodes/none", 404, "NotFound"),
        ("GET", "/api/v1/secrets", 404, "NotFound"),
        ("GET", "/api/v1/pods/no-namespace", 404, "NotFound"),
        ("GET", "/api/v1/namespaces/default/nodes", 404, "NotFound"),
        ("GET", "/apis/resource.k8s.io/v1beta1/resourceslices", 404, "NotFound"),
        ("GET", "/apis/resource.k8s.io/v1/deviceclasses", 404, "NotFound"),
        ("DELETE", "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims/x", 405, "MethodNotAllowed"),
        ("GET", "/api/v1/namespaces/default/pods/x/exec", 404, "NotFound"),
        ("GET", "/nonsense", 404, "NotFound"),
        ("DELETE", "/api/v1/nodes/gpu-t4-01", 405, "MethodNotAllowed"),
        ("POST", "/api/v1/namespaces/default/pods", 405, "MethodNotAllowed"),
        ("DELETE", "/apis/batch/v1/namespaces/default/jobs", 405, "MethodNotAllowed"),
        ("GET", "/api/v1/pods?limit=-1", 400, "BadRequest"),
        ("GET", "/api/v1/pods?limit=1e3", 400, "BadRequest"),
        ("GET", "/api/v1/pods?continue=%21%21", 400, "BadRequest"),
        ("GET", "/api/v1/pods?labelSelector=a%3D%3D%3Db", 400, "BadRequest"),
        ("GET", "/api/v1/pods?fieldSelector=spec.image%3Dx", 400, "BadRequest"),
        ("GET", "/api/v1/pods?watch=1&resourceVersion=abc", 400, "BadRequest"),
        ("GET", "/api/v1/pods?resourceVersion=999999999", 504, "Timeout"),
        ("GET", "/api/v1/pods?watch=1&sendInitialEvents=true", 422, "Invalid"),
    ],
)
def test_a_request_that_makes_no_sense_gets_a_status(
    api: Client, method: str, path: str, code: int, reason: str
) -> None:
    answer = api.request(method, path)
    status = json.loads(answer.data)
    assert (answer.status, status["kind"], status["code"], status["reason"]) == (code, "Status", code, reason)


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (b"GARBAGE\r\n\r\n", 400),
        (b"GET /api/v1/pods HTTP/9.9\r\n\r\n", 505),
        (b"POST /x HTTP/1.1\r\nContent-Length: -4\r\n\r\n", 400),
        (b"BREW /api/v1/pods HTTP/1.1\r\n\r\n", 501),
    ],
)
def test_bytes_that_are_no_http_are_answered_and_harm_nobody(
    api: Client, server: Server, raw: bytes, code: int
) -> None:
    host, _, port = server.url.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), timeout=5) as connection:
        connection.sendall(raw)
        assert connection.recv(200).startswith(f"HTTP/1.1 {code} ".encode())
    assert api.get("/api/v1/nodes?limit=1")["items"]


def test_a_body_that_is_too_large_is_refused(api: Client) -> None:
    answer = api.request("POST", "/apis/batch/v1/namespaces/default/jobs", b" " * (3 * 1024 * 1024 + 1))
    assert answer.status == 413


def test_the_kubeconfig_has_url_and_token_and_is_for_the_owner_alone(server: Server, tmp_path: Path) -> None:
    path = server.kubeconfig(tmp_path / "config")
    config = json.loads(path.read_text())
    assert config["clusters"][0]["cluster"]["server"] == server.url
    assert config["users"][0]["user"]["token"] == server.token
    assert path.stat().st_mode & 0o777 == 0o600


def test_closing_ends_open_watches_and_threads() -> None:
    before = threading.active_count()
    server = serve(Fleet(nodes=3, now=1.78e9), live=True)
    client = Client(server)
    streams = [client.watch("/api/v1/pods?watch=1&resourceVersion=0") for _ in range(5)]
    for stream in streams:
        stream.next()
    server.close()
    server.close()
    for thread in threading.enumerate():
        if thread.name.startswith(("demo", "Thread")) and thread is not threading.main_thread():
            thread.join(timeout=5)
    assert threading.active_count() <= before
    client.pool.clear()


def test_the_package_needs_no_django() -> None:
    """The demo's modules, loaded apart from the package above them, bring no Django."""
    code = (
        "import sys, types; parent = types.ModuleType('gpudash'); parent.__path__ = ['gpudash'];"
        "sys.modules['gpudash'] = parent; import fleetsim;"
        "sys.exit(any(name.split('.')[0] in ('django', 'celery', 'kubernetes') for name in sys.modules))"
    )
    root = ROOT
    assert subprocess.run([sys.executable, "-c", code], cwd=root, check=False).returncode == 0
