"""The stored log: chunks, cap, cut, offsets, rotation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import transaction

from inventory.models import Cluster
from tests.validations.fakecluster import FakeCluster
from tests.validations.recorded import PASSED, codes, launched, passed_by
from validations import logstore
from validations.logstore import Keeper, Moved, feed_after
from validations.models import LogChunk, Run
from validations.suites.engine.base import read_log


def parts(data: bytes, size: int) -> Iterator[bytes]:
    for start in range(0, len(data), size):
        yield data[start : start + size]


@pytest.mark.parametrize("size", [1, 7, 100, 5000])
@pytest.mark.parametrize("length", [0, 10, 99, 100, 149, 150, 151, 1000, 4096])
def test_head_and_tail_are_kept_and_the_cut_says_how_much_is_missing(length: int, size: int) -> None:
    data = bytes(65 + number % 26 for number in range(length))
    keeper = Keeper(100, 50)
    for part in parts(data, size):
        keeper.feed(part)
    kept, left_out = keeper.kept()
    if length <= 150:
        assert (kept, left_out) == (data, None)
        return
    assert left_out == length - 150
    assert kept == data[:100] + b"\n[gpudash: %d bytes left out]\n" % left_out + data[-50:]
    assert read_log(kept).left_out == left_out


@pytest.mark.parametrize("size", [1, 3, 50])
def test_a_log_is_gone_on_with_where_it_was_left(size: int) -> None:
    data = b"0123456789" * 5
    for skip in range(len(data) + 1):
        keeper = Keeper(1000, 0)
        assert feed_after(parts(data, size), skip, keeper, data[: min(skip, 8)])
        assert keeper.kept()[0] == data[skip:]


def test_a_log_that_begins_otherwise_or_is_shorter_is_another_one() -> None:
    for other in (b"another log of this container", b"01234"):
        keeper = Keeper(1000, 0)
        assert not feed_after(iter([other]), 20, keeper, b"0123456789")
        assert keeper.kept()[0] == other


def test_chunks_are_read_by_offset(prod: Cluster, fake: FakeCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logstore, "CHUNK", 10)
    run = launched(prod)
    data = bytes(range(65, 91)) * 2
    with transaction.atomic():
        logstore.append(run, data[:25], 25)
        logstore.append(run, data[25:], len(data) - 25)
    assert LogChunk.objects.filter(run=run).count() == 6
    for offset in range(len(data) + 3):
        for limit in (1, 9, 10, 11, 100):
            assert logstore.piece(run, offset, limit) == data[offset : offset + limit]


def test_two_writers_of_one_log_cannot_both_win(prod: Cluster, fake: FakeCluster) -> None:
    run = launched(prod)
    stale = Run.objects.get(pk=run.pk)
    logstore.append(run, b"first\n", 6)
    with pytest.raises(Moved):
        logstore.append(stale, b"again\n", 6)
    assert logstore.whole(run) == b"first\n"


def test_a_growing_log_is_stored_as_it_grows_and_never_twice(prod: Cluster, fake: FakeCluster) -> None:
    run = launched(prod)
    fake.pod(run.job_name, node="gpu-1", running=True)
    for length in (0, 5, 5, 60, 61, len(PASSED)):
        fake.logs[run.job_name] = PASSED[:length]
        passed_by(run, prod)
        assert logstore.whole(run) == PASSED[:length]
    fake.end(run.job_name, PASSED)
    passed_by(run, prod)
    assert (logstore.whole(run), run.log_stored, run.log_read, run.verdict) == (
        PASSED,
        len(PASSED),
        len(PASSED),
        "passed",
    )


def test_a_log_over_the_cap_keeps_both_ends_and_is_judged_by_them(
    prod: Cluster, fake: FakeCluster, settings: Any
) -> None:
    settings.RUN_LOG_HEAD_BYTES, settings.RUN_LOG_TAIL_BYTES = 300, 200
    run = launched(prod)
    fake.logs[run.job_name] = PASSED[:-18] + b"noise\n" * 10
    fake.pod(run.job_name, node="gpu-1", running=True)
    passed_by(run, prod, 2)
    whole = PASSED[:-18] + b"noise\n" * 5000 + PASSED[-18:]
    fake.end(run.job_name, whole)
    passed_by(run, prod)
    assert run.log_left_out == len(whole) - 500
    assert run.log_read == len(whole)
    stored = logstore.whole(run)
    assert stored.startswith(whole[:300])
    assert stored.endswith(whole[-200:])
    assert b"[gpudash: %d bytes left out]" % run.log_left_out in stored
    assert len(stored) == run.log_stored < 600
    assert (run.verdict, run.log_complete) == ("passed", True)
    assert "log-cut" in codes(run)


def test_a_rotated_log_is_no_pass_and_says_so(prod: Cluster, fake: FakeCluster) -> None:
    run = launched(prod)
    fake.logs[run.job_name] = PASSED[:100]
    fake.pod(run.job_name, node="gpu-1", running=True)
    passed_by(run, prod)
    fake.end(run.job_name, b"a later file\n" + PASSED)
    passed_by(run, prod)
    assert (run.verdict, run.log_complete) == ("errored", False)
    stored = logstore.whole(run)
    assert stored.startswith(PASSED[:100])
    assert b"rotated" in stored
    assert stored.endswith(PASSED)


def test_bytes_are_stored_as_they_came(prod: Cluster, fake: FakeCluster) -> None:
    run = launched(prod)
    raw = b"\xff\xfe" + PASSED.decode().replace("\n", "\r\n").encode("utf-16-le")
    fake.end(run.job_name, raw)
    passed_by(run, prod)
    assert logstore.whole(run) == raw
    assert run.verdict == "passed"


def test_a_hostile_log_is_only_text(prod: Cluster, fake: FakeCluster) -> None:
    run = launched(prod)
    raw = b"\x1b]0;title\x07<script>alert(1)</script>\x00\x1b[31m" + bytes(range(256)) * 50 + b"\n" + PASSED
    fake.end(run.job_name, raw)
    passed_by(run, prod)
    assert run.state == "ended"
    assert logstore.whole(run) == raw
