"""Rules of SuperBench, and what they say of the figures of a node. A criterion is a Python lambda, which is read as text: a name, a
comparison and a number. It is never run.

Source: microsoft/superbenchmark v0.12, superbench/analyzer/diagnosis_rule_op.py and data_diagnosis.py,
docs/user-tutorial/data-diagnosis.md.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from validations.imports.engine.document import checked, name, number, obj
from validations.imports.engine.statement import NotReadable
from validations.imports.shared.patterns import Pattern, Unsupported
from wording.said import sentence

FUNCTIONS = ("variance", "value", "multi_rules", "failure_check")
MOST_RULES = 500
_MOST_METRICS = 2000
#: Expressions tried on names.
_MOST_TRIES = 2_000_000
_COMPARE: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
_LAMBDA = re.compile(r"lambda\s{1,8}([A-Za-z_]\w{0,31})\s{0,8}:(.{1,400})", re.ASCII | re.DOTALL)
_VALUE = r"[+-]?(?:\d{1,15}\.?\d{0,15}|\.\d{1,15})(?:[eE][+-]?\d{1,2})?"
_COMPARISON = re.compile(
    rf"(?:(abs)\s?\(\s?)?([A-Za-z_]\w{{0,31}})\s?(\)\s?)?([<>]=?|[=!]=)\s?({_VALUE})|({_VALUE})\s?([<>]=?|[=!]=)\s?([A-Za-z_]\w{{0,31}})",
    re.ASCII,
)
_SUM = re.compile(rf"(.{{1,300}}?)\s?([<>]=?|[=!]=)\s?({_VALUE})", re.ASCII)
_TERM = re.compile(r"([A-Za-z_]\w{0,31})\s?\[\s?(?:'([^']{1,100})'|\"([^\"]{1,100})\")\s?\]", re.ASCII)
_CONDITIONAL = re.compile(r"True\s{1,8}if\s{1,8}(.{1,300}?)\s{1,8}else\s{1,8}False", re.ASCII | re.DOTALL)


class Rule(NamedTuple):
    """One rule. broken: whether a value breaks it; sums: names of the rules whose breaches `multi_rules` adds up."""

    name: str
    function: str
    category: str
    metrics: tuple[str, ...]
    broken: Callable[[float], bool]
    sums: tuple[str, ...] = ()
    store: bool = False


class Breach(NamedTuple):
    """One figure that breaks a rule."""

    category: str
    metric: str
    value: float
    baseline: float | None
    variance: float | None


class Found(NamedTuple):
    """What the rules say of a node. missing: metrics without a value, with their category. without: those without a baseline."""

    breaches: list[Breach]
    missing: dict[str, str]
    without: list[str]
    variances: dict[str, tuple[float, float]]


def rules_of(document: Any) -> list[Rule]:
    """The rules of a YAML file. Raises NotReadable that names the rule."""
    found = obj(obj(checked(document, "rules").get("superbench")).get("rules"))
    if not found or len(found) > MOST_RULES:
        raise NotReadable(sentence("The rules must have 1 to {most} rules in `superbench.rules`.", most=MOST_RULES))
    return [_rule(name(key) or "", checked(one, f"superbench.rules.{name(key)}")) for key, one in found.items()]


def _rule(label: str, given: Mapping[str, Any]) -> Rule:
    function = given.get("function")
    if function not in FUNCTIONS:
        raise NotReadable(
            sentence("Rule {rule}: `function` must be one of {known}.", rule=label, known=", ".join(FUNCTIONS))
        )
    metrics = given.get("metrics")
    listed = [metrics] if isinstance(metrics, str) else metrics if isinstance(metrics, list) else []
    texts = tuple(one for one in listed if isinstance(one, str))
    if (not texts and function != "multi_rules") or len(texts) > _MOST_METRICS:
        raise NotReadable(sentence("Rule {rule}: `metrics` must be a list of names.", rule=label))
    broken, sums = _criteria(label, given.get("criteria"), function == "multi_rules")
    category = name(given.get("categories")) or label
    store = str(given.get("store", "")).lower() in ("true", "yes", "on")
    return Rule(label, str(function), category, texts, broken, sums, store)


def _criteria(rule: str, text: Any, of_sums: bool) -> tuple[Callable[[float], bool], tuple[str, ...]]:
    """What a lambda compares. Raises NotReadable for any code that is no comparison."""
    match = _LAMBDA.fullmatch(text.strip()) if isinstance(text, str) and len(text) < 500 else None
    body = _unwrapped(match[2].strip()) if match else ""
    if (inner := _CONDITIONAL.fullmatch(body)) is not None:
        body = _unwrapped(inner[1].strip())
    made = (_of_sum if of_sums else _of_value)(match[1], body) if match else None
    if made is None:
        raise NotReadable(
            sentence(
                "Rule {rule}: `criteria` must be a comparison, such as `lambda x:x<-0.05`. Other code is not run.",
                rule=rule,
            )
        )
    return made


def _of_value(argument: str, body: str) -> tuple[Callable[[float], bool], tuple[str, ...]] | None:
    for word, joined in ((" or ", any), (" and ", all)):
        parts = [_comparison(argument, _unwrapped(one.strip())) for one in body.split(word)]
        if len(parts) <= 8 and all(parts):
            known = [one for one in parts if one is not None]
            return (lambda value, known=known, joined=joined: joined(one(value) for one in known)), ()
    return None


def _comparison(argument: str, text: str) -> Callable[[float], bool] | None:
    match = _COMPARISON.fullmatch(text)
    if match is None:
        return None
    absolute, left, closed, sign, right, first, mirrored, last = match.groups()
    if (left or last) != argument or bool(absolute) != bool(closed):
        return None
    compare = _COMPARE[sign or _MIRRORED[mirrored]]
    bound = float(right if right is not None else first)
    return lambda value: compare(abs(value) if absolute else value, bound)


def _of_sum(argument: str, body: str) -> tuple[Callable[[float], bool], tuple[str, ...]] | None:
    match = _SUM.fullmatch(body)
    if match is None:
        return None
    terms = [_TERM.fullmatch(one.strip()) for one in _unwrapped(match[1].strip()).split("+")]
    if not all(one is not None and one[1] == argument for one in terms):
        return None
    compare, bound = _COMPARE[match[2]], float(match[3])
    return (lambda value: compare(value, bound)), tuple(one[2] or one[3] for one in terms if one is not None)


def _unwrapped(text: str) -> str:
    return text[1:-1].strip() if text[:1] == "(" and text[-1:] == ")" and "(" not in text[1:] else text


def chosen(rules: Iterable[Rule], names: Iterable[str]) -> dict[str, list[str]]:
    """Name of a rule → the metrics that it is of. names: all that the file and its baseline have.

    A rule that names a metric in full is of it also where no node has it.
    """
    by_benchmark: dict[str, list[str]] = {}
    everything = sorted(set(names))
    for one in everything:
        by_benchmark.setdefault(one.split("/")[0], []).append(one)
    known, tries, found = set(everything), 0, {}
    for rule in rules:
        mine: dict[str, None] = {}
        for text in rule.metrics:
            if text in known or (name(text) == text and re.sub("[/:_-]", "", text).isalnum()):
                mine[text] = None
                continue
            candidates = by_benchmark.get(text.split("/")[0]) or everything
            tries += len(candidates)
            if tries > _MOST_TRIES:
                raise NotReadable(sentence("Too many metrics for these rules. Send the file in parts."))
            mine |= dict.fromkeys(_matching(rule.name, text, candidates))
        found[rule.name] = list(mine)
    return found


def _matching(rule: str, text: str, candidates: list[str]) -> list[str]:
    try:
        pattern = Pattern(text)
    except Unsupported:
        raise NotReadable(
            sentence(
                "Rule {rule}: metric {text} is an expression that is not read.",
                rule=rule,
                text=(name(text) or "")[:100],
            )
        ) from None
    return [one for one in candidates if pattern.found_in(one)]


def applied(
    rules: Iterable[Rule], of: Mapping[str, list[str]], row: Mapping[str, Any], baseline: Mapping[str, Any]
) -> Found:
    """What the rules say of the figures of one node. Metrics that the file lacks are no breach: nothing was measured."""
    found = Found([], {}, [], {})
    counts: dict[str, int] = {}
    stored: dict[str, list[Breach]] = {}
    for rule in rules:
        if rule.function == "multi_rules":
            if rule.broken(sum(counts.get(one, 0) for one in rule.sums)):
                found.breaches.extend(
                    breach._replace(category=rule.category) for one in rule.sums for breach in stored.get(one, [])
                )
            continue
        mine = _breaches(rule, of[rule.name], row, baseline, found)
        counts[rule.name], stored[rule.name] = len(mine), mine
        if not rule.store:
            found.breaches.extend(mine)
    return found


def _breaches(
    rule: Rule, metrics: Iterable[str], row: Mapping[str, Any], baseline: Mapping[str, Any], found: Found
) -> list[Breach]:
    made = []
    for metric in metrics:
        value = number(row.get(metric))
        if value is None:
            found.missing.setdefault(metric, rule.category)
            continue
        base = number(baseline.get(metric, baseline.get(metric.rsplit(":", 1)[0])))
        variance = None
        if rule.function == "variance":
            # A baseline next to 0 may give no number either.
            variance = number((value - base) / base) if base else None
            if base is None or variance is None:
                found.without.append(metric)
                continue
            found.variances[metric] = base, variance
        if rule.broken(value if variance is None else variance):
            made.append(Breach(rule.category, metric, value, base, variance))
    return made
