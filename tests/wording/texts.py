"""All text that a user reads, with its place: marked strings, REST descriptions, help of metrics and commands, alerts, documents."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from typing import NamedTuple

import yaml

from tests.docs.reading import PAGES
from tests.packages import sources
from tests.pages.test_chinese import marked_in_code, marked_in_templates
from tests.processes import ROOT

#: Calls whose second argument is the help text of a metric.
_FAMILIES = {
    *("Family", "Counter", "Gauge", "Histogram", "Summary"),
    *("CounterMetricFamily", "GaugeMetricFamily", "HistogramMetricFamily", "InfoMetricFamily"),
}
_COMMANDS = ("gpudash", "inventory", "validations", "audit", "accounts")
_FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`[^`\n]*`")
_LINK = re.compile(r"\]\([^)]*\)")


class Text(NamedTuple):
    """kind: string, rest, metric, command, alert, dashboard, doc, heading. where: file, and line where that is known."""

    kind: str
    where: str
    text: str


def strings() -> Iterator[Text]:
    """What pages, findings, reasons and errors say: every string that is marked for translation."""
    for text, name in dict.fromkeys((*marked_in_templates(), *marked_in_code())):
        yield Text("string", name, text)


def rest() -> Iterator[Text]:
    """Descriptions and summaries of docs/openapi.yaml."""

    def walk(value: object, path: str) -> Iterator[Text]:
        if isinstance(value, dict):
            for name, one in value.items():
                if name in ("description", "summary") and isinstance(one, str):
                    yield Text("rest", path or name, one)
                else:
                    yield from walk(one, f"{path}/{name}")
        elif isinstance(value, list):
            for one in value:
                yield from walk(one, path)

    yield from walk(yaml.load((ROOT / "docs" / "openapi.yaml").read_text(), yaml.CSafeLoader), "")


def metrics() -> Iterator[Text]:
    """Help texts of metrics, as the code gives them."""
    for path in sources("api", "runtime"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _FAMILIES:
                for text in _literals(node.args[1:2]):
                    yield Text("metric", f"{path.relative_to(ROOT)}:{node.lineno}", text)


def commands() -> Iterator[Text]:
    """Help of commands and options, their errors, and what they print."""
    for package in _COMMANDS:
        for path in (ROOT / package).rglob("management/**/*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                for text in _said_by_command(node):
                    yield Text("command", f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 0)}", text)


def _said_by_command(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Call):
        for keyword in node.keywords:
            if keyword.arg in ("help", "description", "epilog"):
                yield from _literals([keyword.value])
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name in ("CommandError", "write"):
            yield from _literals(node.args[:1])
    elif isinstance(node, ast.Assign) and any(isinstance(one, ast.Name) and one.id == "help" for one in node.targets):
        yield from _literals([node.value])


def _literals(nodes: list[ast.expr]) -> Iterator[str]:
    """The text of a literal; what an f-string puts in is `{}`."""
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        elif isinstance(node, ast.JoinedStr):
            yield "".join(str(one.value) if isinstance(one, ast.Constant) else "{}" for one in node.values)


def alerts() -> Iterator[Text]:
    """Annotations of the alert rules."""
    path = ROOT / "deploy" / "prometheus" / "alerts.yaml"
    for group in yaml.safe_load(path.read_text())["groups"]:
        for rule in group["rules"]:
            for text in rule.get("annotations", {}).values():
                yield Text("alert", rule.get("alert", ""), str(text))


def dashboards() -> Iterator[Text]:
    """Titles, descriptions and legends of the Grafana dashboard."""

    def walk(value: object) -> Iterator[str]:
        if isinstance(value, dict):
            for name, one in value.items():
                if name in ("title", "description", "legendFormat", "label") and isinstance(one, str):
                    yield one
                else:
                    yield from walk(one)
        elif isinstance(value, list):
            for one in value:
                yield from walk(one)

    for path in sorted((ROOT / "deploy" / "grafana").glob("*.json")):
        for text in walk(json.loads(path.read_text())):
            yield Text("dashboard", path.name, text)


def documents() -> Iterator[Text]:
    """Paragraph lines and headings of all pages of the docs, without code and addresses."""
    for path in PAGES:
        plain = _FENCE.sub(lambda match: "\n" * match[0].count("\n"), path.read_text())
        for number, line in enumerate(plain.splitlines(), 1):
            text = _LINK.sub("]", _CODE.sub("`…`", line)).strip()
            if text:
                where = f"{path.relative_to(ROOT)}:{number}"
                yield Text("heading" if text.startswith("#") else "doc", where, text.lstrip("# "))


def everything() -> Iterator[Text]:
    for part in (strings, rest, metrics, commands, alerts, dashboards, documents):
        yield from part()
