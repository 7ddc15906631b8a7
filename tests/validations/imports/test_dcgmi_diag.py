"""A pass of a card in `dcgmi diag` is its own: no failure that names no card, and no stop, is passed over."""

from __future__ import annotations

import json
from typing import Any

import pytest

from validations.imports.dcgmi_diag import read
from validations.imports.engine.statement import Imported, Source


def report(*tests: dict[str, Any], **more: Any) -> dict[str, Any]:
    body = {"test_categories": [{"category": "Hardware", "tests": list(tests)}]}
    return {"DCGM GPU Diagnostic": body, "GPU Device Serials": {"0": "165"}, **more}


def done(name: str, status: str, card: str | None = None) -> dict[str, Any]:
    return {"name": name, "results": [{"status": status} | ({} if card is None else {"gpu_ids": card})]}


def found(document: Any) -> Imported:
    return read(Source(content=json.dumps(document).encode(), node="n"))


def test_a_test_of_no_card_passes_none_beside_one_that_failed() -> None:
    one = found(report(done("Memory", "Fail"), done("PCIe", "Pass")))
    assert (one.verdict, [(card.verdict, card.level) for card in one.cards]) == ("failed", [("skipped", "")])
    one = found(report(done("Memory", "Pass"), done("PCIe", "Pass")))
    assert [card.verdict for card in one.cards] == ["passed"]


def test_a_card_has_not_passed_iterations_that_stopped() -> None:
    passed = report(done("Memory", "Pass", "0"))
    stopped = {"DCGM GPU Diagnostic": {"runtime_error": "GPU is lost"}}
    one = found({"iterations": [passed, stopped]})
    [card] = one.cards
    assert (one.verdict, card.verdict, card.because) == (
        "errored",
        "incomplete",
        "The diagnostic stopped: GPU is lost",
    )
    failed = report(done("Memory", "Fail", "0"))
    assert [card.verdict for card in found({"iterations": [failed, stopped]}).cards] == ["failed"]


@pytest.mark.parametrize(
    ("status", "verdict"),
    [
        ("PASSED", "passed"),
        ("Pass - All", "passed"),
        ("Pass with errors", "errored"),
        ("Passive", "errored"),
        ("Fail - GPUs: 0", "failed"),
        ("NOT_RUN", "incomplete"),
        ("Skipped", "skipped"),
    ],
)
def test_a_status_is_one_of_the_words_of_dcgm(status: str, verdict: str) -> None:
    assert [card.verdict for card in found(report(done("Memory", status, "0"))).cards] == [verdict]
