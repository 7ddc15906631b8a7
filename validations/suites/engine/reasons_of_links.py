"""Reason codes of tests in which cards exchange data, on one node or on several."""

from __future__ import annotations

from validations.suites.engine.reason_words import ReasonWords
from validations.suites.engine.words import gettext_noop

OF_THE_LINKS = (
    ReasonWords(
        "no-pass-alone",
        gettext_noop("nodes not tested alone"),
        "Test the cards of each node alone first: a group does not show whether a fault is within a node or between nodes.",
    ),
    ReasonWords(
        "group-not-formed",
        gettext_noop("the nodes did not form a group"),
        "Apply deploy/validation-groups.yaml, and check DNS and the network between the pods.",
        points_to="configuration",
    ),
    ReasonWords(
        "bandwidth",
        gettext_noop("bandwidth below the threshold"),
        "Check the links between the cards (NVLink, PCIe) and other workloads on them.",
        points_to="card",
    ),
    ReasonWords(
        "not-verified",
        gettext_noop("sums not checked"),
        "Use an image whose all_reduce_perf checks its sums (`-c 1`).",
        points_to="image",
    ),
    ReasonWords(
        "nccl-system",
        gettext_noop("NCCL failed on this system"),
        "Rerun it with NCCL_DEBUG=WARN in the image. Read the lines with NCCL WARN.",
        points_to="driver or runtime",
    ),
    ReasonWords(
        "same-card",
        gettext_noop("two ranks used the same card"),
        "Run it on a node where each unit of the resource is a whole card: no time-slicing, MPS, MIG or vGPU.",
    ),
    ReasonWords(
        "shared-memory",
        gettext_noop("not enough shared memory in the container"),
        "Give the container more /dev/shm and more host memory.",
        points_to="configuration",
    ),
    ReasonWords(
        "single-rank",
        gettext_noop("fewer than two cards used"),
        "Set the option `cards` to two or more.",
        points_to="configuration",
    ),
)
