"""Recorded pages beside what is read of them. `python -m tests.kube.test_decode_golden` rewrites; read the diff."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from kube.decode import Decoder, Page
from kube.objects import DaemonSet, Node, Pod

GOLDEN = Path(__file__).parent / "golden"
KINDS: dict[str, Any] = {"pods": Pod, "nodes": Node, "daemonsets": DaemonSet}


def read(name: str) -> Page[Any]:
    return Decoder(KINDS[name]).page((GOLDEN / f"{name}.json").read_bytes())


def plain(page: Page[Any]) -> Any:
    return json.loads(msgspec.json.encode(page))


@pytest.mark.parametrize("name", KINDS)
def test_a_recorded_page_is_read_as_recorded(name: str) -> None:
    assert plain(read(name)) == json.loads((GOLDEN / f"{name}.expected.json").read_text())


@pytest.mark.parametrize("name", KINDS)
def test_an_object_that_is_encoded_again_reads_the_same(name: str) -> None:
    for thing in read(name).objects:
        assert msgspec.json.decode(msgspec.json.encode(thing), type=KINDS[name]) == thing


@pytest.mark.parametrize("name", KINDS)
def test_watch_events_of_the_same_objects_read_the_same(name: str) -> None:
    decoder: Decoder[Any] = Decoder(KINDS[name])
    items = json.loads((GOLDEN / f"{name}.json").read_text())["items"]
    events = [decoder.event(json.dumps({"type": "MODIFIED", "object": item}).encode()) for item in items]
    page = read(name)
    assert [event.object for event in events if event.object] == page.objects
    assert [event.unread for event in events if event.unread] == page.unread
    assert [event.resource_version for event in events] == [
        item["metadata"].get("resourceVersion", "") for item in items
    ]


if __name__ == "__main__":
    for kind in KINDS:
        (GOLDEN / f"{kind}.expected.json").write_text(
            json.dumps(plain(read(kind)), indent=1, ensure_ascii=False) + "\n"
        )
