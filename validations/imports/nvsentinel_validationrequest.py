"""`ValidationRequest` of NVSentinel, as `kubectl get -o json` or `-o yaml` gives it: a verdict a group of tests, no figures, no log.

A group of several nodes that failed blames none of them. A test that was asked for and stands in no group was not run, although the
request may have succeeded (`batchFailurePolicy: ignore`).
Source: NVIDIA/NVSentinel docs/configuration/validation.md.
"""

from __future__ import annotations

from collections.abc import Iterator

from validations.imports.engine.document import (
    MOST_STATEMENTS,
    Object,
    check_count,
    checked,
    json_or_yaml,
    moment,
    name,
    names,
    obj,
    objects,
    said,
)
from validations.imports.engine.statement import (
    CardStatement,
    Format,
    Imported,
    Level,
    NodeStatement,
    NotReadable,
    Source,
    Verdict,
    whole,
    worst,
)
from wording.said import gettext_noop, sentence

_PHASES: dict[str, Verdict] = {
    "Succeeded": "passed",
    "Failed": "failed",
    "Pending": "incomplete",
    "Running": "incomplete",
    "InProgress": "incomplete",
}


def read(source: Source) -> Imported:
    """A statement for each node, and for each card that the request names."""
    document = checked(json_or_yaml(source.content), sentence("The file"))
    if document.get("kind") != "ValidationRequest":
        raise NotReadable(
            sentence("`kind` must be ValidationRequest. Send one object, as `kubectl get -o json` prints it.")
        )
    spec, status, metadata = obj(document.get("spec")), obj(document.get("status")), obj(document.get("metadata"))
    phase = name(status.get("phase")) or "Pending"
    groups = objects(status.get("testGroups"))
    asked = {node: one for one in objects(spec.get("nodes")) if (node := name(one.get("name")))}
    check_count(len(asked))
    tests = names(spec.get("tests"))
    statements = tuple(_statements(asked, groups, tests, phase))
    overall = _PHASES.get(phase, "errored")
    complete = phase in ("Succeeded", "Failed") and all(
        one.verdict not in ("skipped", "incomplete") for one in statements
    )
    complete = complete and bool(statements)
    verdict = worst([overall, *(one.verdict for one in statements)]) if overall != "incomplete" else "incomplete"
    return Imported(
        format=FORMAT.name,
        tool_version=None,
        verdict=whole(verdict, complete),
        complete=complete,
        nodes=statements,
        cards=tuple(_cards(asked, statements)),
        key=_key(metadata, status),
        at=moment(status.get("completionTime")),
        facts={
            "name": name(metadata.get("name")),
            "phase": phase,
            "tests": tests[:64],
            "started_at": name(status.get("startTime")),
            "groups": [{"name": name(one.get("name")), "phase": name(one.get("phase"))} for one in groups[:200]],
        },
    )


def _key(metadata: Object, status: Object) -> str:
    """The object as it ended: while it runs it is another statement each time."""
    uid = name(metadata.get("uid")) or name(metadata.get("name"))
    ended = name(status.get("completionTime"))
    return f"{uid} {ended}" if uid and ended else ""


def _statements(
    asked: dict[str, Object], groups: list[Object], tests: list[str], phase: str
) -> Iterator[NodeStatement]:
    of: dict[str, list[tuple[Verdict, str, list[str]]]] = {node: [] for node in asked}
    for group in groups:
        members, ran = names(group.get("nodes")), names(group.get("tests"))
        verdict = _PHASES.get(name(group.get("phase")) or "Pending", "errored")
        text = _text(group, len(members), verdict, ran)
        for node in members:
            if node in of or len(of) < MOST_STATEMENTS:
                blamed: Verdict = "warning" if verdict == "failed" and len(members) > 1 else verdict
                of.setdefault(node, []).append((blamed, text, ran))
    for node, rows in of.items():
        left = [test for test in tests if not any(test in ran for _, _, ran in rows)]
        verdict = whole(worst(row[0] for row in rows), not left) if rows else "incomplete"
        because = next((text for found, text, _ in rows if found == verdict), "")
        if verdict == "incomplete" and left:
            because = sentence("Not tested: {tests}.", tests=", ".join(left[:16]))
        test = next((", ".join(ran[:8]) for found, _, ran in rows if found == verdict), "")
        if not rows and not left:
            because = sentence("NVSentinel reports: {phase}", phase=phase)
        level: Level = "ran" if verdict == "passed" else ""
        yield NodeStatement(node=node, verdict=verdict, because=because, test=name(test), level=level)


def _text(group: Object, count: int, verdict: Verdict, ran: list[str]) -> str:
    if verdict == "passed":
        return ""
    label, phase = name(group.get("name")) or "–", said(group.get("phase")) or "–"
    if verdict == "failed" and count > 1:
        return sentence(
            "{test}: group {group} of {count} nodes failed ({reason}). Which node is at fault is unknown.",
            test=", ".join(ran[:8]) or "–",
            group=label,
            count=count,
            reason=phase,
        )
    return sentence("{test}: {reason}", test=", ".join(ran[:8]) or label, reason=phase)


def _cards(asked: dict[str, Object], statements: tuple[NodeStatement, ...]) -> Iterator[CardStatement]:
    """Those that the request is limited to."""
    count = 0
    for one in statements:
        for uuid in names(asked.get(one.node or "", {}).get("gpuUUIDs")):
            count += 1
            check_count(count)
            yield CardStatement(
                node=one.node, uuid=uuid, verdict=one.verdict, test=one.test, because=one.because, level=one.level
            )


FORMAT = Format(
    name="nvsentinel-validationrequest",
    title=gettext_noop("NVSentinel: ValidationRequest"),
    read=read,
)
