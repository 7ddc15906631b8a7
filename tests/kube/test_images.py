"""Names of images are compared as the kubelet reads them, so that no other spelling gets past a list."""

from __future__ import annotations

import pytest

from kube.images import allowed, parsed

A, B = "sha256:" + "a" * 64, "sha256:" + "b" * 64


@pytest.mark.parametrize(
    ("text", "full"),
    [
        ("ubuntu", "docker.io/library/ubuntu"),
        ("ubuntu:22.04", "docker.io/library/ubuntu:22.04"),
        ("tensorworks/example:1", "docker.io/tensorworks/example:1"),
        ("index.docker.io/tensorworks/example:1", "docker.io/tensorworks/example:1"),
        ("docker.io/ubuntu", "docker.io/library/ubuntu"),
        ("Registry.Example.com/a/b:1", "registry.example.com/a/b:1"),
        ("registry:5000/a/b", "registry:5000/a/b"),
        ("localhost/a", "localhost/a"),
        (f"nvcr.io/a/b:1@{A}", f"nvcr.io/a/b:1@{A}"),
        (f"a@{A}", f"docker.io/library/a@{A}"),
    ],
)
def test_a_name_is_read_in_full(text: str, full: str) -> None:
    assert str(parsed(text)) == full


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nvcr.io/",
        "nvcr.io/good/../evil",
        "nvcr.io//evil",
        "nvcr.io/Evil",
        "nvcr.io/a:b:c",
        "nvcr.io/a:",
        "nvcr.io/a@sha256:1",
        f"nvcr.io/a@{A}@{A}",
        "nvcr.io/a b",
        "nvcr.io/a\n",
        "-x.io/a",
        "a" * 600,
    ],
)
def test_what_is_no_name_is_on_no_list(text: str) -> None:
    assert parsed(text) is None
    assert not allowed(["nvcr.io/*", "docker.io/*", "nvcr.io/good/*"]).admits(text)


@pytest.mark.parametrize(
    ("entry", "yes", "no"),
    [
        (
            "nvcr.io/a/b:1",
            ["nvcr.io/a/b:1", "NVCR.io/a/b:1"],
            ["nvcr.io/a/b", "nvcr.io/a/b:2", f"nvcr.io/a/b@{A}", f"nvcr.io/a/b:1@{A}", "nvcr.io/a/b/c:1", "a/b:1"],
        ),
        ("nvcr.io/a/b:latest", ["nvcr.io/a/b", "nvcr.io/a/b:latest"], ["nvcr.io/a/b:1"]),
        ("nvcr.io/a/b", ["nvcr.io/a/b", "nvcr.io/a/b:2", f"nvcr.io/a/b:2@{A}"], ["nvcr.io/a/bc:1", "nvcr.io/a/b/c"]),
        (f"nvcr.io/a/b@{A}", [f"nvcr.io/a/b@{A}", f"nvcr.io/a/b:9@{A}"], ["nvcr.io/a/b:9", f"nvcr.io/a/b@{B}"]),
        (f"nvcr.io/a/b:1@{A}", ["nvcr.io/a/b:1", f"nvcr.io/a/b@{A}"], [f"nvcr.io/a/b:1@{B}", "nvcr.io/a/b:2"]),
        ("nvcr.io/a/*", ["nvcr.io/a/b", f"nvcr.io/a/b/c:1@{A}"], ["nvcr.io/ab/c", "nvcr.io/a", "nvcr.io.evil/a/b"]),
        ("nvcr.io/*", ["nvcr.io/a"], ["nvcr.io.evil.example/a", "evil/nvcr.io/a"]),
        ("team/*", ["team/x:1", "docker.io/team/x"], ["registry.example.com/team/x", "teams/x"]),
        ("docker.io/library/*", ["ubuntu", "index.docker.io/ubuntu:1"], ["tensorworks/x"]),
        ("ubuntu", ["docker.io/library/ubuntu:1"], ["library/ubuntu2", "quay.io/library/ubuntu"]),
    ],
)
def test_a_list_admits_what_it_names_and_nothing_else(entry: str, yes: list[str], no: list[str]) -> None:
    found = allowed([entry])
    assert [text for text in yes if not found.admits(text)] == []
    assert [text for text in no if found.admits(text)] == []


def test_the_suites_own_images_are_a_word_of_the_list() -> None:
    assert allowed(["suites"]).suites
    assert not allowed(["suites"]).admits("suites")
    assert not allowed(["nvcr.io/*"]).suites


@pytest.mark.parametrize("entry", ["*", "/*", "nvcr.io/../*", "a b", "nvcr.io/a:*", "nvcr.io/*/b", "http://nvcr.io/a"])
def test_an_entry_that_is_none_is_named(entry: str) -> None:
    with pytest.raises(ValueError, match="invalid image"):
        allowed(["suites", entry])


def test_a_tag_that_is_listed_with_a_digest_is_pulled_by_it() -> None:
    found = allowed(["suites", f"index.docker.io/a/b:1@{A}", "nvcr.io/a/b:1", f"nvcr.io/c@{B}"])
    assert found.pinned("a/b:1") == f"a/b:1@{A}"
    assert found.pinned("index.docker.io/a/b:1") == f"index.docker.io/a/b:1@{A}"
    assert found.pinned(f"a/b:1@{B}") == f"a/b:1@{B}"
    for same in ("a/b:2", "a/b", "nvcr.io/a/b:1", "nvcr.io/c", "nvcr.io/c:1"):
        assert found.pinned(same) == same
