"""Decoding a page of pods, on one core: what the watcher does with each, beside what else could be done.

10,000 pods of 4 KB in pages of 2,000, best of five runs; the other ways on fewer pods in the same run.
"""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Callable
from itertools import islice
from typing import Any

from bench.answers import Answers
from bench.large import LARGE, SMALL, pods
from bench.report import emit, progress

PAGE = 2000


def run(small: bool) -> None:
    from inventory.mirror.kinds import KINDS
    from inventory.mirror.values import digest
    from inventory.stack_context import stack_context
    from kube.decode import Decoder
    from kube.listed import Pod
    from stacks.engine.trim import trim_pod

    count = 4_000 if small else 10_000
    pages = _pages(count, small)
    decoder, context, kind = Decoder(Pod), stack_context(), KINDS["pods"]
    progress(f"decode: {count} pods of {sum(map(len, pages)) // count} bytes")
    # A page at a time, as the watcher does; `kept` holds all pages at once, so it pays for the memory too.
    decoded = _rate(lambda: deque((decoder.page(page) for page in pages), maxlen=0), count)
    kept = _rate(lambda: [decoder.page(page) for page in pages], count)
    trimmed = _rate(lambda: [trim_pod(thing, context) for page in pages for thing in decoder.page(page).objects], count)
    rows = _rate(
        lambda: [
            row and digest(row)
            for page in pages
            for row in (kind.row(pod, context) for pod in decoder.page(page).objects)
        ],
        count,
        rounds=3,
    )
    plain = _rate(lambda: deque((json.loads(page) for page in pages), maxlen=0), count, rounds=3)
    official = _official(pages[:1])
    emit(
        "decode",
        _decoded(decoder, pages, count),
        pods=count,
        pods_per_s=round(decoded),
        kept_pods_per_s=round(kept),
        with_trim_pods_per_s=round(trimmed),
        to_rows_pods_per_s=round(rows),
        json_loads_pods_per_s=round(plain),
        official_client_pods_per_s=round(official),
        times_json_loads=decoded / plain,
        times_official_client=decoded / official,
    )


def _decoded(decoder: Any, pages: list[bytes], count: int) -> Answers:
    """Each pod is there under its own name and uid, as `json` reads it, and none is unreadable."""
    answers = Answers()
    for page in pages:
        found = decoder.page(page)
        wanted = [(item["metadata"]["name"], item["metadata"]["uid"]) for item in json.loads(page)["items"]]
        seen = [(thing.metadata.name, thing.metadata.uid) for thing in found.objects]
        for one, other in zip(seen, wanted, strict=False):
            answers.expect("a pod", one, other)
        answers.missing("pod", len(wanted) - len(seen))
    answers.missing("pod", count - answers.right - answers.wrong.total())
    return answers


def _pages(count: int, small: bool) -> list[bytes]:
    """Lists as the API server answers them; every third pod is a system pod."""
    values = [value for _, value in islice(pods(SMALL if small else LARGE), count)]
    head = b'{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":['
    return [head + b",".join(values[start : start + PAGE]) + b"]}" for start in range(0, count, PAGE)]


def _rate(work: Callable[[], object], count: int, rounds: int = 5) -> float:
    """Pods a second of CPU time, so that what else runs on the machine counts little; of the best round."""
    best = float("inf")
    for _ in range(rounds):
        started = time.process_time()
        work()
        best = min(best, time.process_time() - started)
    return count / best


def _official(pages: list[bytes]) -> float:
    from kubernetes.client import ApiClient

    client = ApiClient()
    return _rate(
        lambda: [client.deserialize(page.decode(), "V1PodList", "application/json") for page in pages],
        len(pages) * PAGE,
        rounds=2,
    )
