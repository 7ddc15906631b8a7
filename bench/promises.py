"""What each line of a benchmark promises: a bound for each figure that it is judged by. Nowhere else does a benchmark get its `ok`.

A line is what `report.emit` prints under one name; a benchmark prints one or several (`LINES`). Figures without a bound are said
and not judged. Seconds, MiB (2**20 bytes), shares of one core, counts; the hardware is that of docs/sizing.md.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple


class Bound(NamedTuple):
    """The figure is at most and at least so much; one of the two is enough."""

    most: float | None = None
    least: float | None = None

    def holds(self, value: object) -> bool:
        """What is no number (None: nothing was measured) is within no bound."""
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            return False
        return (self.most is None or value <= self.most) and (self.least is None or value >= self.least)

    def __str__(self) -> str:
        parts = [
            f">= {self.least:g}" if self.least is not None else "",
            f"<= {self.most:g}" if self.most is not None else "",
        ]
        return ", ".join(part for part in parts if part)


def most(value: float) -> Bound:
    return Bound(most=value)


def least(value: float) -> Bound:
    return Bound(least=value)


#: Benchmark (its name on the command line) → the lines that it prints.
LINES: dict[str, tuple[str, ...]] = {
    "decode": ("decode",),
    "parse": ("parse log", "parse noise"),
    "usage-formats": ("usage-formats answers", "usage-formats page"),
    "weights": ("weights",),
    "shared": ("shared page", "shared rest", "shared healthz", "shared all"),
    "run-overhead": ("run-overhead alone", "run-overhead campaign"),
    "queue": ("queue taken", "queue free", "queue lost"),
    "usage": ("usage", "usage-look"),
    "charts": ("charts minute", "charts hour", "charts day", "charts card", "charts cluster"),
    "policies": ("policies first", "policies unchanged", "policies counts", "policies changed"),
    "history": ("history", "history retention"),
    "inspect": ("inspect",),
    "clusters": ("clusters", "clusters under load"),
    "first-sync": ("first-sync", "unchanged-sync"),
    "churned": ("first-sync-churned",),
    "events": ("events pod", "events allocation"),
    "takeover": ("takeover",),
    "pages": ("pages page", "pages finder", "pages rest", "pages metrics"),
}

#: Line → figure → bound.
PROMISES: Mapping[str, Mapping[str, Bound]] = {
    "decode": {"pods_per_s": least(150_000), "times_json_loads": least(5), "times_official_client": least(30)},
    # A log is 4 MiB at most, and a run waits for it.
    "parse log": {"mb_per_s": least(4)},
    "parse noise": {"mb_per_s": least(10)},
    "usage-formats answers": {"cpu_s": most(6), "peak_mib": most(300)},
    "usage-formats page": {"cpu_s": most(6), "peak_mib": most(300)},
    "weights": {
        "html_gzip_bytes": most(40_000),
        "elements": most(4_000),
        "requests": most(30),
        "visit_kb": most(400),
        "idle_received_kb_min": most(60),
        "idle_asked_a_min": most(15),
    },
    "shared page": {"p95_ms": most(400)},
    "shared rest": {"p95_ms": most(150)},
    "shared healthz": {"p95_ms": most(50)},
    # Below it the visitors were not busy, and latencies say nothing.
    "shared all": {"answers_s": least(50)},
    "run-overhead alone": {
        "p95_s": most(5),
        "api_calls_per_run": most(15),
        "created_twice": most(0),
        "jobs_left": most(0),
    },
    "run-overhead campaign": {
        "p95_s": most(5),
        "api_calls_per_run": most(10),
        "created_twice": most(0),
        "jobs_left": most(0),
    },
    "queue taken": {"many_s": most(0.5), "ratio": most(3)},
    "queue free": {"many_s": most(2), "ratio": most(3)},
    "queue lost": {"many_s": most(2), "ratio": most(3)},
    "usage": {"seconds": most(20), "peak_mib": most(300)},
    "usage-look": {"seconds": most(20), "peak_mib": most(300)},
    "charts minute": {"seconds": most(10), "peak_mib": most(400)},
    "charts hour": {"seconds": most(120), "peak_mib": most(400)},
    "charts day": {"day_bytes_most": most(3 * 1024)},
    "charts card": {"median_ms": most(150)},
    "charts cluster": {"median_ms": most(500)},
    "policies first": {"median_s": most(2), "peak_mib": most(400)},
    "policies unchanged": {"median_s": most(2), "peak_mib": most(400)},
    "policies counts": {"median_s": most(2)},
    "policies changed": {"median_s": most(2), "peak_mib": most(400)},
    "history": {"median_ms": most(150)},
    "history retention": {"longest_s": most(2)},
    "inspect": {"seconds": most(2), "peak_mib": most(400)},
    "clusters": {
        "in_sync_s": most(60),
        "idle_cpu_share": most(0.30),
        "rss_mib": most(1024),
        "connections": most(100),
    },
    "clusters under load": {"rss_mib": most(1024), "behind_s": most(5)},
    "first-sync": {"times_kubectl": most(0.18), "times_raw_list": most(4), "peak_mib": most(300)},
    "unchanged-sync": {"rows_written": most(0), "peak_mib": most(300)},
    # With changes it may take twice as long as without.
    "first-sync-churned": {"times": most(2), "rate_per_s": least(150)},
    "events pod": {"p99_s": most(0.5), "rate_per_s": least(450), "watcher_peak_mib": most(200)},
    "events allocation": {"p99_s": most(1.5), "rate_per_s": least(450), "watcher_peak_mib": most(200)},
    "takeover": {"max_s": most(15)},
    "pages page": {"median_ms": most(150)},
    # The finder puts the rule of each system to every card.
    "pages finder": {"median_ms": most(500)},
    "pages rest": {"median_ms": most(75)},
    "pages metrics": {"median_ms": most(1500)},
}
