"""What DCGM prints, and what each says: its own errors, and the statuses of tests with an example of each."""

from __future__ import annotations

import re

from validations.suites.engine.phrases import Phrase
from wording.said import sentence

SOURCE = "NVIDIA/DCGM `dcgmi/Diag.cpp`"
_NOT_RUN = sentence("DCGM could not run the diagnostic")
_NO_ENGINE = sentence("The host engine of DCGM is not running")
ENGINE = (
    Phrase("Unable to connect to host engine", "host-engine", _NO_ENGINE, "errored", SOURCE),
    Phrase("unable to establish a connection to the specified host", "host-engine", _NO_ENGINE, "errored", SOURCE),
    Phrase("Unable to start an embedded host engine", "host-engine", _NO_ENGINE, "errored", SOURCE),
    Phrase("Err: Failed to start DCGM Server", "host-engine", _NO_ENGINE, "errored", "NVIDIA/DCGM `hostengine`"),
    Phrase("Error: Unable to run diagnostics", "host-engine", _NOT_RUN, "errored", SOURCE),
    Phrase("Error: Unable to complete diagnostic", "diagnostic", _NOT_RUN, "errored", SOURCE),
    Phrase("Error: Diagnostic could not be run", "diagnostic", _NOT_RUN, "errored", SOURCE),
    Phrase("Aborting the iterative runs of the diagnostic", "diagnostic", _NOT_RUN, "errored", SOURCE),
    Phrase("Error: Diagnostic can only be performed on", "diagnostic", _NOT_RUN, "errored", SOURCE),
)
#: Words of DCGM's own errors by which the card is what stopped the diagnostic.
CARD_GONE = re.compile(
    r"\bdetached\b|GPU is lost|fell off the bus|fallen off the bus|requires reset|is inaccessible", re.IGNORECASE
)
_TABLE = """Successfully ran diagnostic for group.
+---------------------------+------------------------------------------------+
|-----  Deployment  --------+------------------------------------------------|
| software                  | Pass                                           |
+-----  Hardware  ----------+------------------------------------------------+
{}
+---------------------------+------------------------------------------------+"""
STATUSES = (
    Phrase("| memory | Fail |", "diagnostic", "A test failed", "failed", SOURCE, _TABLE.format("| memory | Fail |")),
    Phrase(
        "| Memory | Pass - GPU: 0 | and below | | Fail - GPU: 1 |",
        "diagnostic",
        "A test failed on one of the cards",
        "failed",
        "NVIDIA/DCGM 2 and 3 `dcgmi/Diag.cpp`",
        _TABLE.format("| Memory | Pass - GPU: 0 |\n| | Fail - GPU: 1 |"),
    ),
    Phrase("| memory | Warn |", "diagnostic", "A test warns", "warning", SOURCE, _TABLE.format("| memory | Warn |")),
    Phrase(
        "| memory | Pass | with | Warning |",
        "diagnostic",
        "A test passed beside the text of an error",
        "warning",
        SOURCE,
        _TABLE.format("| memory | Pass |\n| Warning: GPU0 | Error using CUDA API |"),
    ),
    Phrase(
        "| memory | Skip |, and so every test of the card",
        "diagnostic",
        "Nothing was run on the card",
        "warning",
        SOURCE,
        _TABLE.format("| memory | Skip |"),
    ),
    Phrase(
        '"runtime_error": "All 1 requested GPUs are detached. …"',
        "device-removed",
        "Card lost",
        "failed",
        "NVIDIA/DCGM `DcgmDiagManager.cpp`",
        '{"DCGM Diagnostic": {"runtime_error": "Error: All 1 requested GPUs are detached."}}',
    ),
    Phrase(
        '"runtime_error": "…"',
        "diagnostic",
        "DCGM could not run the diagnostic",
        "errored",
        SOURCE,
        '{"DCGM Diagnostic": {"runtime_error": "Error: Diagnostic could not be run while DCGM is paused."}}',
    ),
    Phrase(
        "| memory | Pass |, with GPU1: Skip below",
        "not-every-card",
        "A card did not run a test which another card passed",
        "warning",
        SOURCE,
        _TABLE.format("| memory | Pass |\n|  | GPU0: Pass |\n|  | GPU1: Skip |"),
    ),
    Phrase(
        '"global_errors": [{"warning": "…", "error_severity": 2}]',
        "diagnostic",
        "DCGM error outside of a test. Severity 2 or 6: the card is not usable",
        "failed",
        "NVIDIA/DCGM `dcgmi/MnDiag.cpp`, `dcgm_errors.h`",
        '{"DCGM Diagnostic": {"global_errors": [{"warning": "row remapping failed", "error_severity": 6}]}}',
    ),
)
NO_DEVICE = ("No supported GPUs", "No GPUs found", "group is empty", "The Group is empty", "no GPUs in the group")
