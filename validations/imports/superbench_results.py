"""SuperBench's `results-summary.jsonl`: a line a node, judged by its rules and baseline where these come beside it.

The tool calls a node defective alike where a figure is bad and where there is none. Here a benchmark that did not run, was killed or
gave no figure is errored: nothing is known of the card. The number behind ":" is a rank, not always a card: no card is stated.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from validations.imports.engine.document import (
    Object,
    check_count,
    checked,
    json_of,
    lines_of,
    name,
    number,
    yaml_of,
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
    worst,
)
from validations.imports.shared.return_codes import meaning
from validations.imports.shared.superbench_rules import Breach, Found, Rule, applied, chosen, rules_of
from wording.said import gettext_noop, sentence

_CODE = "/return_code"
_MOST_FIGURES = 200_000


def read(source: Source) -> Imported:
    """A statement a node, in the order of the file. Without rules only return codes are judged, and no node passes."""
    rows = [(_node(line, row), _named(row)) for line, row in lines_of(source.content)]
    rules = rules_of(yaml_of(source.rules, "rules")) if source.rules is not None else []
    given = checked(json_of(source.baseline, "baseline"), "baseline") if source.baseline is not None else {}
    baseline = _named(given)
    metrics = {key for _, row in rows for key in row if "/" in key}
    check_count(len(rows))
    of = chosen(rules, metrics | {key for key in baseline if "/" in key})
    if (
        sum(map(len, of.values())) * len(rows) > 20 * _MOST_FIGURES
        or sum(len(row) for _, row in rows) > _MOST_FIGURES * 5
    ):
        raise NotReadable(sentence("Too many metrics for these rules. Send the file in parts."))
    judged = [_judged(node, row, rules, of, metrics, baseline) for node, row in rows]
    nodes = tuple(statement for statement, _ in judged)
    return Imported(
        format=FORMAT.name,
        tool_version=None,
        verdict=worst(one.verdict for one in nodes),
        complete=all(one.verdict in ("passed", "warning", "failed") and not one.facts.get("missing") for one in nodes),
        nodes=nodes,
        measurements=tuple(figure for _, figures in judged for figure in figures)[:_MOST_FIGURES],
        facts={"rules": len(rules), "baseline": len(baseline)},
    )


def _named(row: Object) -> Object:
    """The same with names that may be shown and kept."""
    return {label: value for key, value in row.items() if key != "node" and (label := name(key))}


def _node(line: int, row: Object) -> str:
    node = name(row.get("node"))
    if node is None:
        raise NotReadable(sentence("Line {line}: no `node`. Send `results-summary.jsonl`.", line=line))
    return node


def _judged(
    node: str,
    row: Object,
    rules: list[Rule],
    of: Mapping[str, list[str]],
    metrics: set[str],
    baseline: Mapping[str, Any],
) -> tuple[NodeStatement, list[Measurement]]:
    found = applied(rules, of, row, baseline)
    bad = [one for one in found.breaches if not one.metric.endswith(_CODE)]
    stopped = {
        key: code
        for key in sorted(metrics)
        if key.endswith(_CODE) and (code := number(row.get(key))) not in (None, 0.0)
    }
    figures = [
        _figure(node, key, value, found) for key, value in row.items() if key in metrics and not key.endswith(_CODE)
    ]
    missing = _missing(found, row, metrics, rules)
    facts: dict[str, Any] = {"missing": missing[:256]} if missing else {}
    if bad:
        first = bad[0]
        facts |= _of_breach(first)
        return NodeStatement(
            node=node, verdict="failed", because=_because(bad), test=first.metric, level="checked", facts=facts
        ), [one for one in figures if one]
    verdict, because, category = _without_breach(found, rules, stopped, missing, row)
    if category:
        facts["category"] = category
    level: Level = "checked" if verdict == "passed" else ""
    return NodeStatement(node=node, verdict=verdict, because=because, level=level, facts=facts), [
        one for one in figures if one
    ]


def _missing(found: Found, row: Object, metrics: set[str], rules: list[Rule]) -> list[str]:
    """Figures that there should be. A benchmark that did not run on a node lacks its return code too."""
    if rules:
        return list(found.missing)
    return sorted(key for key in metrics if key.endswith(_CODE) and number(row.get(key)) is None)


def _of_breach(one: Breach) -> dict[str, Any]:
    variance = round(one.variance, 4) if one.variance is not None else None
    return {
        "category": one.category,
        "metric": one.metric,
        "value": one.value,
        "baseline": one.baseline,
        "variance": variance,
    }


def _because(bad: list[Breach]) -> str:
    first = bad[0]
    if first.variance is not None and first.baseline is not None:
        return sentence(
            "{metric}: {value} is {percent}% off the baseline {baseline} ({count} in all).",
            metric=first.metric,
            value=f"{first.value:g}",
            percent=f"{first.variance * 100:+.2f}",
            baseline=f"{first.baseline:g}",
            count=len(bad),
        )
    return sentence(
        "{metric}: {value} breaks a rule ({count} in all).",
        metric=first.metric,
        value=f"{first.value:g}",
        count=len(bad),
    )


def _without_breach(
    found: Found, rules: list[Rule], stopped: Mapping[str, float | None], missing: list[str], row: Object
) -> tuple[Verdict, str, str]:
    """(verdict, why, category of the rule) of a node on which no figure breaks a rule."""
    for metric, code in stopped.items():
        category = next((one.category for one in found.breaches if one.metric == metric), "")
        because = sentence("{metric} {code} ({meaning})", metric=metric, code=f"{code:g}", meaning=meaning(code or 0))
        return "errored", because, category
    if missing:
        benchmark = missing[0].split("/")[0]
        category = found.missing.get(missing[0], "")
        ran = any(key.split("/")[0] == benchmark for key in row if isinstance(key, str))
        if ran:
            return "errored", sentence("{metric} has no value", metric=missing[0]), category
        return "errored", sentence("{benchmark} did not run", benchmark=benchmark), category
    if not rules:
        return "incomplete", sentence("Values were not judged: no rules were given."), ""
    if found.without:
        return "incomplete", sentence("{metric} has no baseline.", metric=found.without[0]), ""
    return "passed", "", ""


def _figure(node: str, key: str, value: Any, found: Found) -> Measurement | None:
    figure = number(value)
    if figure is None:
        return None
    base, variance = found.variances.get(key, (None, None))
    return Measurement(node=node, name=key, value=figure, baseline=base, variance=variance)


FORMAT = Format(
    name="superbench-results",
    title=gettext_noop("SuperBench raw results: results-summary.jsonl"),
    read=read,
    files=("rules", "baseline"),
)
