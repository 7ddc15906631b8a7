"""What is wrong with the installation, the worst first: processes, queues, failed tasks, connections, code that differs."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import timedelta
from enum import StrEnum

import msgspec
from django.db.models import Min
from django.db.models.functions import Now
from prometheus_client.parser import text_string_to_metric_families

from inventory.processes import NAMES, START, pulses
from runtime.clock import database_now
from runtime.models import Message, ProcessReport
from runtime.telemetry.report import GONE

#: A message that nobody takes for so long: workers are too few, or the broker is away.
LATE = timedelta(seconds=60)
#: Failures of tasks are told for so long.
LATELY_S = 3600.0


class Level(StrEnum):
    ERROR = "error"
    WARNING = "warning"


class Code(StrEnum):
    """What is wrong. The page has the words."""

    PROCESS_MISSING = "process-missing"
    TOO_LITTLE = "too-little"
    MESSAGES_WAIT = "messages-wait"
    TASKS_FAIL = "tasks-fail"
    CONNECTIONS_WAIT = "connections-wait"
    CODE_DIFFERS = "code-differs"
    WEB_SILENT = "web-silent"


class Wrong(msgspec.Struct, frozen=True):
    """One thing. what: of which process, task or place; text: as it was said; command: that mends it, "" for none."""

    level: Level
    code: Code
    what: str
    text: str = ""
    count: int = 0
    seconds: float = 0.0
    command: str = ""


class Running(msgspec.Struct, frozen=True):
    """A process that runs. Sums since it was started; None where it says nothing of it.

    resident_bytes: its memory. requests, tasks, failed: how many. mean_ms: of requests. connections: used and idle ones.
    """

    report: ProcessReport
    resident_bytes: float | None
    cpu_s: float | None
    requests: int
    mean_ms: float | None
    tasks: int
    failed: int
    connections: int | None
    waiting: int


def running() -> list[Running]:
    """All that said something lately. One query."""
    rows = ProcessReport.objects.filter(written_at__gt=Now() - GONE).order_by("role", "name")
    return [_running(row) for row in rows]


def wrong(found: list[Running]) -> list[Wrong]:
    """found: as `running` gives them. A few queries."""
    told = [*_processes(), *_messages(), *_failures(found), *_connections(found), *_code(found)]
    return sorted(told, key=lambda one: (one.level is not Level.ERROR, list(Code).index(one.code), one.what))


def _running(report: ProcessReport) -> Running:
    sums: dict[str, float] = {}
    failed = 0.0
    try:
        for family in text_string_to_metric_families(report.figures):
            for sample in family.samples:
                key = f"{sample.name} {sample.labels.get('state', '')}".strip()
                sums[key] = sums.get(key, 0.0) + sample.value
                if sample.name == "gpudash_task_duration_seconds_count" and sample.labels.get("outcome") == "failed":
                    failed += sample.value
    except (ValueError, KeyError, IndexError):
        sums = {}
    requests = sums.get("gpudash_http_request_duration_seconds_count", 0.0)
    used, idle = (sums.get(f"gpudash_database_connections {state}") for state in ("used", "idle"))
    return Running(
        report=report,
        resident_bytes=sums.get("process_resident_memory_bytes"),
        cpu_s=sums.get("process_cpu_seconds_total"),
        requests=int(requests),
        mean_ms=sums["gpudash_http_request_duration_seconds_sum"] / requests * 1000 if requests else None,
        tasks=int(sums.get("gpudash_task_duration_seconds_count", 0.0)),
        failed=int(failed),
        connections=int(used + (idle or 0.0)) if used is not None else None,
        waiting=int(sums.get("gpudash_database_connections waiting", 0.0)),
    )


def _processes() -> Iterator[Wrong]:
    for pulse in pulses():
        if not pulse.seen:
            yield Wrong(Level.ERROR, Code.PROCESS_MISSING, NAMES[pulse.role], pulse.reason, command=START[pulse.role])
        elif pulse.lack:
            yield Wrong(Level.ERROR, Code.TOO_LITTLE, NAMES[pulse.role], pulse.lack, command=START[pulse.role])


def _messages() -> Iterator[Wrong]:
    late = Message.objects.filter(taken=False, sent_at__lt=Now() - LATE)
    first = late.aggregate(first=Min("sent_at"))["first"]
    if first is not None:
        tasks = sorted({key.partition(":")[0] for key in late.values_list("key", flat=True)})
        waited = (database_now() - first).total_seconds()
        yield Wrong(Level.ERROR, Code.MESSAGES_WAIT, ", ".join(tasks[:5]), count=late.count(), seconds=waited)


def _failures(found: list[Running]) -> Iterator[Wrong]:
    """By task, of the last hour, by the clock of the process that says it."""
    by_task: dict[str, list[str]] = {}
    for one in found:
        for failure in one.report.failures if isinstance(one.report.failures, list) else ():
            if isinstance(failure, dict) and time.time() - float(failure.get("at") or 0) < LATELY_S:
                by_task.setdefault(str(failure.get("task", "")), []).append(str(failure.get("error", "")))
    for task, errors in by_task.items():
        yield Wrong(Level.WARNING, Code.TASKS_FAIL, task, ", ".join(sorted(set(errors))[:3]), count=len(errors))


def _connections(found: list[Running]) -> Iterator[Wrong]:
    for one in found:
        if one.waiting:
            yield Wrong(Level.WARNING, Code.CONNECTIONS_WAIT, one.report.name, one.report.role, count=one.waiting)


def _code(found: list[Running]) -> Iterator[Wrong]:
    by_code: dict[str, list[str]] = {}
    for one in found:
        by_code.setdefault(one.report.version, []).append(f"{one.report.role} ({one.report.name})")
    if len(by_code) > 1:
        fewest = min(by_code.values(), key=len)
        yield Wrong(Level.WARNING, Code.CODE_DIFFERS, ", ".join(fewest[:5]), count=len(fewest))
    if found and not any(one.report.role in ("web", "all in one") for one in found):
        yield Wrong(Level.WARNING, Code.WEB_SILENT, "")
