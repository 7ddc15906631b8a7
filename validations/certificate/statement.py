"""The statement of a report: subjects, result and evidence around the report as it is. Plain JSON values in, plain JSON values out.

Not in-toto's own `test-result/v0.1`: it has one result and lists of tests, no place for cards that were not tested, and why.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from validations import report as reports
from validations.certificate.envelope import PREDICATE_TYPE, STATEMENT_TYPE, digest_of
from validations.report import FAILED, INCONCLUSIVE, TESTED, VALIDATED

#: Of all cards: every one is validated; some failed; else.
PASSED, FAILED_RESULT, INCOMPLETE = "PASSED", "FAILED", "INCOMPLETE"


class NoSubject(Exception):
    """No card with a result has a UUID: there is nothing that a statement could be about."""


class Issued(msgspec.Struct, frozen=True):
    """When, for whom, and by which version. at: ISO 8601 in UTC."""

    at: str
    asked_by: str
    version: str


def statement(report: dict[str, Any], runs: Mapping[str, dict[str, Any]], issued: Issued) -> dict[str, Any]:
    """report: of a campaign or a policy. runs: ID → what the certificate says of a run beside the report. Raises NoSubject."""
    targets, others = report["targets"], report.get("other_runs", [])
    tested = [one for one in targets if one["outcome"] in TESTED]
    names = sorted({f"card-uuid:{one['uuid']}" for one in (*tested, *others) if one["uuid"]})
    if not names:
        raise NoSubject
    counts = _counts(targets)
    return {
        "_type": STATEMENT_TYPE,
        "subject": [{"name": name, "digest": {"sha256": digest_of(name)}} for name in names],
        "predicateType": PREDICATE_TYPE,
        "predicate": {
            "result": _result(counts, others),
            "counts": counts,
            "without_uuid": sum(1 for one in tested if not one["uuid"]),
            "window": _window((*tested, *others)),
            "issued_at": issued.at,
            "issued_for": issued.asked_by,
            "gpudash_version": issued.version,
            "report_sha256": reports.sha256(reports.canonical(report)),
            "report": report,
            "runs": {run: runs[run] for run in sorted(_runs(targets, others)) if run in runs},
        },
    }


def _counts(targets: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    found = Counter(one["outcome"] for one in targets)
    tested = {name: found[name] for name in (VALIDATED, FAILED, INCONCLUSIVE)}
    return {"targets": found.total(), **tested, "not_tested": found.total() - sum(tested.values())}


def _result(counts: Mapping[str, int], others: Iterable[Mapping[str, Any]]) -> str:
    if counts["failed"] or any(one["verdict"] == FAILED for one in others):
        return FAILED_RESULT
    return PASSED if counts["validated"] == counts["targets"] else INCOMPLETE


def _window(tested: Iterable[Mapping[str, Any]]) -> dict[str, str | None]:
    """From the first start to the last end of a run with a result. Times are of one form, so their texts have their order."""
    rows = list(tested)
    starts = [one["started_at"] or one["ended_at"] for one in rows if one["started_at"] or one["ended_at"]]
    ends = [one["ended_at"] for one in rows if one["ended_at"]]
    return {"from": min(starts, default=None), "until": max(ends, default=None)}


def _runs(targets: Iterable[Mapping[str, Any]], others: Iterable[Mapping[str, Any]]) -> set[str]:
    return {run for one in (*targets, *others) for run in (one["run"], one.get("tried")) if run}
