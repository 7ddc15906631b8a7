"""What `sb result diagnosis` writes: JSON rows or lines of JSON, a node each. Without `--output-all` only nodes with issues are
there, which says nothing of the others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from validations.imports.engine.document import (
    Object,
    check_count,
    json_of,
    lines_of,
    name,
    number,
    objects,
    said,
    text_of,
)
from validations.imports.engine.statement import (
    Format,
    Imported,
    Measurement,
    NodeStatement,
    NotReadable,
    Source,
    Verdict,
    worst,
)
from validations.imports.shared.return_codes import meaning
from wording.said import gettext_noop, sentence

_NODE = ("index", "Index", "node", "machine")
_CATEGORY = ("diagnosis/category", "Category")
_DETAILS = ("diagnosis/issue_details", "Defective Details", "Issue Details")
_COUNT = ("diagnosis/issue_num", "Number Of Issues")
_ACCEPT = ("diagnosis/accept", "Accept")
_KNOWN = frozenset((*_NODE, *_CATEGORY, *_DETAILS, *_COUNT, *_ACCEPT))
_MOST_DETAILS = 1000
_NUMBER = r"-?\d{1,20}(?:\.\d{1,10})?"
_DETAIL = re.compile(
    rf"(?P<metric>[^()]{{1,300}})\((?:B/L: (?P<base>{_NUMBER}) )?VAL: (?P<value>{_NUMBER})(?: VAR: (?P<percent>{_NUMBER})%)? ?"
    r"Rule:(?P<rule>.{0,400})\)",
    re.DOTALL,
)


class _Detail(NamedTuple):
    metric: str
    value: float | None = None
    base: float | None = None
    variance: float | None = None

    @property
    def missing(self) -> bool:
        return self.value is None

    @property
    def measured(self) -> bool:
        return self.value is not None and not self.metric.endswith("/return_code")


def read(source: Source) -> Imported:
    """A statement a row. A row whose issues are only missing figures and return codes is errored, not failed."""
    rows = list(_rows(source.content))
    if not rows:
        raise NotReadable(sentence("No row found. Send `diagnosis_summary.json` or `.jsonl`."))
    check_count(len(rows))
    judged = [_judged(where, row) for where, row in rows]
    nodes = tuple(statement for statement, _ in judged)
    everything = all(_first(row, _ACCEPT) is not None for _, row in rows)
    return Imported(
        format=FORMAT.name,
        tool_version=None,
        verdict=worst(one.verdict for one in nodes),
        complete=everything and not any(one.verdict == "errored" or one.facts.get("missing") for one in nodes),
        nodes=nodes,
        measurements=tuple(figure for _, figures in judged for figure in figures),
        facts={"all_nodes": everything},
    )


def _rows(content: bytes) -> Iterator[tuple[str, Object]]:
    start = text_of(content).lstrip()
    if start[:1] == "[":
        for at, one in enumerate(objects(json_of(content)), 1):
            yield sentence("Row {row}", row=at), one
        return
    try:
        for line, one in lines_of(content):
            yield sentence("Line {line}", line=line), one
    except NotReadable as error:
        # One object over several lines is a row as well.
        try:
            whole = json_of(content)
        except NotReadable:
            raise error from None
        if not isinstance(whole, dict):
            raise
        yield sentence("Row {row}", row=1), whole


def _first(row: Object, keys: tuple[str, ...]) -> Any:
    return next((row[key] for key in keys if row.get(key) is not None), None)


def _judged(where: str, row: Object) -> tuple[NodeStatement, list[Measurement]]:
    node = name(_first(row, _NODE))
    if node is None:
        raise NotReadable(sentence("{where}: no `index`. Send the output of `sb result diagnosis`.", where=where))
    given = _first(row, _DETAILS)
    details, strange = _details(given if isinstance(given, str) else "")
    accept = str(_first(row, _ACCEPT)).lower() in ("true", "1") if _first(row, _ACCEPT) is not None else None
    issues = number(_first(row, _COUNT))
    category = said(_first(row, _CATEGORY))
    verdict, because = _verdict(details, strange, accept, issues, category)
    deciding = next((one for one in details if one.measured), None) if verdict == "failed" else None
    facts: dict[str, Any] = {"category": category} if category else {}
    if missing := [one.metric for one in details if one.missing]:
        facts["missing"] = missing[:256]
    if deciding:
        variance = round(deciding.variance, 4) if deciding.variance is not None else None
        facts |= {"metric": deciding.metric, "value": deciding.value, "baseline": deciding.base, "variance": variance}
    test = deciding.metric if deciding else None
    statement = NodeStatement(
        node=node,
        verdict=verdict,
        because=because,
        test=test,
        level="checked" if verdict in ("passed", "failed") else "",
        facts=facts,
    )
    return statement, [_figure(node, one) for one in details if one.value is not None]


def _figure(node: str, one: _Detail) -> Measurement:
    return Measurement(node=node, name=one.metric, value=one.value or 0.0, baseline=one.base, variance=one.variance)


def _verdict(
    details: list[_Detail], strange: str, accept: bool | None, issues: float | None, category: str
) -> tuple[Verdict, str]:
    measured = [one for one in details if one.measured]
    if measured:
        first = measured[0]
        return "failed", sentence(
            "{metric}: {value} breaks a rule ({count} in all).",
            metric=first.metric,
            value=f"{first.value:g}",
            count=len(measured),
        )
    if details and not strange:
        code = next((one for one in details if not one.missing), None)
        if code is not None:
            text = meaning(code.value or 0)
            return "errored", sentence(
                "{metric} {code} ({meaning})", metric=code.metric, code=f"{code.value:g}", meaning=text
            )
        return "errored", sentence("{metric} has no value", metric=details[0].metric)
    if strange or category or issues or accept is False:
        return "failed", sentence("SuperBench does not accept the node: {text}", text=strange or category or "–")
    if accept:
        return "passed", ""
    return "errored", sentence("The row has no result.")


def _details(text: str) -> tuple[list[_Detail], str]:
    """(issues, the first that is not known). A rule may hold a comma: an issue ends where its form is whole."""
    found, strange, piece = [], "", ""
    for part in text[:200_000].split(",")[:_MOST_DETAILS]:
        piece = f"{piece},{part}" if piece else part
        if len(piece) > 1500:
            break
        if (one := _detail(piece.strip())) is not None:
            found.append(one)
            piece = ""
    if piece.strip():
        strange = said(piece)
    return found, strange


def _detail(text: str) -> _Detail | None:
    if text.endswith("_miss") and "(" not in text:
        return _Detail(name(text.removesuffix("_miss")) or "")
    match = _DETAIL.fullmatch(text)
    if match is None:
        return None
    percent = number(match["percent"])
    return _Detail(
        name(match["metric"]) or "",
        number(match["value"]),
        number(match["base"]),
        percent / 100 if percent is not None else None,
    )


FORMAT = Format(
    name="superbench-diagnosis",
    title=gettext_noop("SuperBench diagnosis: diagnosis_summary.json or .jsonl"),
    read=read,
)
