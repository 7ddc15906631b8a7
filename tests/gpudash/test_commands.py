"""The commands of a team's processes, and how commands are written."""

from __future__ import annotations

import itertools

import pytest
from django.core.management import CommandError, call_command

import manage
from gpudash.celery import app
from gpudash.management.commands.worker import PROCESSES
from gpudash.workers.queues import QUEUES


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (["upgrade-check", "-o", "json"], ["upgrade_check", "-o", "json"]),
        (["parse_log", "a-b", "c-d"], ["parse_log", "a-b", "c-d"]),
        (["--help"], ["--help"]),
        ([], []),
    ],
)
def test_a_command_is_written_with_a_hyphen_or_without(given: list[str], wanted: list[str]) -> None:
    assert manage.words(["gpudash", *given]) == ["gpudash", *wanted]


@pytest.fixture
def celery(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What Celery is started with."""
    started: list[str] = []
    monkeypatch.setattr(app, "worker_main", started.extend)
    monkeypatch.setattr(app, "start", started.extend)
    return started


@pytest.mark.parametrize("process", PROCESSES)
def test_a_worker_takes_the_queue_of_its_process_with_threads(celery: list[str], process: str) -> None:
    call_command("worker", process, "-c", "16")
    told = dict(itertools.pairwise(celery))
    assert celery[0] == "worker"
    assert (told["--queues"], told["--hostname"], told["--pool"]) == (PROCESSES[process], f"{process}@%h", "threads")
    assert celery[-2:] == ["-c", "16"]


def test_each_queue_has_a_worker() -> None:
    assert set(PROCESSES.values()) == set(QUEUES)


def test_a_worker_that_there_is_not_is_refused_by_name(celery: list[str]) -> None:
    with pytest.raises(CommandError, match=r"invalid choice: 'wach' .*watch"):
        call_command("worker", "wach")
    assert celery == []


def test_the_schedule_leaves_no_file_behind(celery: list[str]) -> None:
    call_command("schedule")
    assert celery == ["beat", "--pidfile="]
