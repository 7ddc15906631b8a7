"""Certification report of NVIDIA's Cluster Readiness Engine, bare or in the envelope of its export.

A group of several nodes that failed blames none of them: one is failed only where the engine's diagnosis confirmed it. The report
does not say which thresholds there were, and without one a communication test succeeds at any bandwidth: its pass proves none.
Source: NVIDIA/cluster-readiness-engine pkg/report/report.go, api/v1alpha1/reportexport_types.go.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from validations.imports.engine.document import (
    MOST_STATEMENTS,
    Object,
    check_count,
    checked,
    json_of,
    moment,
    name,
    names,
    number,
    obj,
    objects,
    said,
    whole_number,
)
from validations.imports.engine.statement import (
    Format,
    Imported,
    Level,
    Measurement,
    NodeStatement,
    NotReadable,
    Source,
    Verdict,
    whole,
    worst,
)
from wording.said import gettext_noop, sentence

_RESULTS = ("PASSED", "INCOMPLETE", "FAILED", "RUNNING")
_COMMUNICATION = "communication"
#: Reasons of a failure, as they stand in the texts of groups and categories → what is known of the hardware.
_REASONS: tuple[tuple[str, Verdict], ...] = (
    ("ThresholdViolation", "failed"),
    # The node was cordoned by others before: it was not tested.
    ("HardwareFailureDetected", "skipped"),
    ("WorkloadStalled", "errored"),
    ("WorkloadSchedulingBlocked", "errored"),
    ("WorkloadFailed", "errored"),
    ("BackoffLimitExceeded", "errored"),
    ("DeadlineExceeded", "errored"),
)
_FIGURE = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)\s{0,4}(GB/s|Gbps|MB/s|TB/s)?")
_MOST_CATEGORIES = 200


class _Nodes:
    """What parts of the report say of each node: the worst counts."""

    def __init__(self) -> None:
        self.said: dict[str, list[tuple[Verdict, str, str, Level]]] = {}

    def add(self, node: str, verdict: Verdict, because: str = "", test: str = "", level: Level = "") -> None:
        if node not in self.said and len(self.said) >= MOST_STATEMENTS:
            check_count(MOST_STATEMENTS + 1)
        self.said.setdefault(node, []).append((verdict, because, test, level))

    def statements(self) -> Iterator[NodeStatement]:
        for node, rows in self.said.items():
            verdict = worst(row[0] for row in rows)
            _, because, test, _ = next(row for row in rows if row[0] == verdict)
            levels = [row[3] for row in rows if row[0] == verdict and row[3]]
            level: Level = "checked" if "checked" in levels else levels[0] if levels else ""
            yield NodeStatement(node=node, verdict=verdict, because=because, test=test or None, level=level)


def read(source: Source) -> Imported:
    """A statement for each node that the report names."""
    document = checked(json_of(source.content), sentence("The report"))
    envelope = document if isinstance(document.get("report"), dict) else {}
    report = envelope.get("report", document)
    result = name(report.get("result"))
    if result not in _RESULTS:
        raise NotReadable(
            sentence("`result` must be one of {known}. Send the JSON report of NVCRE.", known=", ".join(_RESULTS))
        )
    categories = objects(report.get("categories"))
    if len(categories) > _MOST_CATEGORIES:
        raise NotReadable(sentence("More than {most} categories. Send one report.", most=_MOST_CATEGORIES))
    nodes, judged = _Nodes(), []
    for one in categories:
        judged.append(_category(one, nodes))
    _of_report(report, nodes, categories)
    excluded = names(report.get("excludedNodes"))
    statements = tuple(nodes.statements())
    complete = result in ("PASSED", "FAILED") and not excluded and all(one != "incomplete" for one in judged)
    return Imported(
        format=FORMAT.name,
        tool_version=None,
        verdict=_overall(result, judged, statements, complete),
        complete=complete and bool(categories),
        nodes=statements,
        measurements=tuple(figure for one in categories for figure in _figures(one)),
        key=name(envelope.get("reportID")) or "",
        cluster=name(obj(envelope.get("source")).get("clusterID")) or "",
        at=moment(envelope.get("generatedAt")),
        facts=_facts(report, envelope, categories, excluded),
    )


def _overall(result: str, judged: list[Verdict], nodes: tuple[NodeStatement, ...], complete: bool) -> Verdict:
    found = worst([*judged, *(one.verdict for one in nodes if one.verdict != "skipped")])
    if result == "FAILED":
        # It failed before it reported anything, or nothing that it reports is a failure of hardware.
        return found if found in ("failed", "errored", "warning") else "errored"
    if found in ("failed", "errored", "warning"):
        return found
    return whole("passed", complete and bool(judged))


def _category(one: Object, nodes: _Nodes) -> Verdict:
    """The verdict of a category, with what it says of its nodes."""
    test, status = _label(one), name(one.get("status")) or ""
    level: Level = "ran" if (name(one.get("domain")) or "").lower() == _COMMUNICATION else "checked"
    groups = list(_failed_groups(one, test, nodes))
    faulty = _diagnosed(one, test, nodes)
    failed_names = {group for group, _ in groups}
    for row in objects(one.get("groupBandwidth")):
        label = name(row.get("groupName")) or ""
        bad = row.get("belowMin") is True or row.get("failed") is True
        if bad and label not in failed_names:
            verdict: Verdict = "failed" if row.get("belowMin") is True else "errored"
            reason = sentence("bandwidth below the minimum") if verdict == "failed" else sentence("its Job failed")
            _blame(nodes, names(row.get("nodes")), verdict, label, reason, test)
            groups.append((label, verdict))
        elif not bad and status == "Succeeded":
            for node in names(row.get("nodes")):
                nodes.add(node, "passed", "", test, level)
    if status == "Succeeded" and not groups and not faulty:
        return "passed"
    if status not in ("Succeeded", "Failed"):
        return "incomplete"
    if faulty:
        return "failed"
    if groups:
        return worst(verdict for _, verdict in groups)
    return _reason(one.get("failureReason"))


def _failed_groups(one: Object, test: str, nodes: _Nodes) -> Iterator[tuple[str, Verdict]]:
    for group in objects(one.get("failedGroups")):
        label, reason = name(group.get("name")) or "", said(group.get("reason"))
        members = names(group.get("nodes"))
        log = obj(group.get("failureLog"))
        verdict = _reason(reason or log.get("reason"))
        count = max(len(members), whole_number(group.get("nodeCount")) or 0)
        _blame(nodes, members, verdict, label, reason or said(log.get("reason")), test, count)
        yield label, verdict


def _blame(
    nodes: _Nodes, members: list[str], verdict: Verdict, group: str, reason: str, test: str, count: int = 0
) -> None:
    """A group of one is its node. Of several, none is failed by the group alone."""
    alone = max(len(members), count) == 1
    for node in members:
        if alone or verdict != "failed":
            nodes.add(node, verdict, sentence("{test}: {reason}", test=test, reason=reason or "–"), test)
        else:
            text = sentence(
                "{test}: group {group} of {count} nodes failed ({reason}). Which node is at fault is unknown.",
                test=test,
                group=group or "–",
                count=max(len(members), count),
                reason=reason or "–",
            )
            nodes.add(node, "warning", text, test)


def _diagnosed(one: Object, test: str, nodes: _Nodes) -> list[str]:
    """Nodes that failed again beside known good partners."""
    faulty = names(obj(one.get("diagnose")).get("confirmedFaulty"))
    for node in faulty:
        nodes.add(node, "failed", sentence("{test}: confirmed faulty by diagnosis", test=test), test, "checked")
    return faulty


def _of_report(report: Object, nodes: _Nodes, categories: list[Object]) -> None:
    """Nodes by their results, those that failed without more, and those that were left out."""
    tests = [_label(one) for one in categories]
    only = tests[0] if len(tests) == 1 else ""
    communication = all((name(one.get("domain")) or "").lower() == _COMMUNICATION for one in categories)
    for row in objects(report.get("nodeResults")):
        node, status = name(row.get("name")), name(row.get("status"))
        if node is not None and status == "Passed":
            nodes.add(node, "passed", "", only, "ran" if communication else "checked")
        elif node is not None and node not in nodes.said:
            nodes.add(node, "errored", sentence("NVCRE reports: {status}", status=status or "–"), only)
    for node in names(report.get("failedNodes")):
        if node not in nodes.said:
            nodes.add(node, "errored", sentence("NVCRE reports: {status}", status="failedNodes"), only)
    for node in names(report.get("excludedNodes")):
        reason = said(report.get("exclusionReason")) or "–"
        nodes.add(node, "skipped", sentence("Not tested: {reason}", reason=reason))


def _reason(text: Any) -> Verdict:
    """What a failure says of the hardware. A reason that is not known says nothing of it."""
    return next((verdict for word, verdict in _REASONS if word in said(text)), "errored")


def _label(one: Object) -> str:
    return "/".join(part for part in (name(one.get("domain")), name(one.get("variant"))) if part)


def _figures(one: Object) -> Iterator[Measurement]:
    test = _label(one)
    for row in objects(one.get("bandwidth"))[:200]:
        for key in ("algBW", "busBW"):
            if (figure := _figure(row.get(key))) is not None:
                value, unit = figure
                label = f"{test} {key} {name(row.get('size')) or ''}".strip()
                yield Measurement(node=None, name=label, value=value, unit=unit)
    for row in objects(one.get("groupBandwidth"))[:2000]:
        if (figure := _figure(row.get("busBW"))) is not None:
            value, unit = figure
            members = names(row.get("nodes"))
            node = members[0] if len(members) == 1 else None
            label = f"{test} busBW {name(row.get('groupName')) or ''}".strip()
            yield Measurement(node=node, name=label, value=value, unit=unit)


def _figure(value: Any) -> tuple[float, str] | None:
    """("478.6 GB/s") → (478.6, "GB/s")."""
    match = _FIGURE.match(said(value))
    found = number(match[1]) if match else None
    return (found, match[2] or "GB/s") if match and found is not None else None


def _facts(report: Object, envelope: Object, categories: list[Object], excluded: list[str]) -> dict[str, Any]:
    transports = dict.fromkeys(one for category in categories for one in names(category.get("transport")))
    return {
        "name": name(report.get("name")),
        "platform": name(report.get("platform")),
        "gpu": name(report.get("gpu")),
        "total_nodes": whole_number(report.get("totalNodes")),
        "result": name(report.get("result")),
        "categories": [{"test": _label(one), "status": name(one.get("status"))} for one in categories],
        "excluded_nodes": excluded[:1000],
        "exclusion_reason": said(report.get("exclusionReason")) or None,
        "failed_nodes": names(report.get("failedNodes"))[:1000],
        "transports": list(transports)[:16],
        "schema_version": name(envelope.get("schemaVersion")),
    }


FORMAT = Format(
    name="nvcre-report",
    title=gettext_noop("NVIDIA Cluster Readiness Engine: certification report"),
    read=read,
)
