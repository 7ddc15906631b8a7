"""JUnit XML: a suite is a test on a node, a case a card of it where it names one. No schema is official; Jenkins' form is read, with
`properties` of cases. A document type is refused, and with it every entity that could name a file or grow.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from xml.parsers import expat

import msgspec

from validations.imports.engine.document import (
    MOST_BYTES,
    MOST_DEPTH,
    UUID,
    check_count,
    moment,
    name,
    said,
    whole_number,
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
from wording.said import gettext_noop, known, sentence

_MOST_ELEMENTS = 400_000
_MOST_TEXT = 4000
_INDEX = re.compile(r"(?<![a-z])(?:gpu|card|device|npu)[ _#:-]{0,2}(\d{1,4})(?![\w-])", re.IGNORECASE)
_OUTCOMES: tuple[tuple[str, Verdict], ...] = (("failure", "failed"), ("error", "errored"), ("skipped", "skipped"))


class _Element(msgspec.Struct):
    tag: str
    attributes: dict[str, str]
    inside: list[_Element] = []
    text: str = ""

    def all(self, tag: str) -> list[_Element]:
        return [one for one in self.inside if one.tag == tag]

    def properties(self) -> Iterator[tuple[str, str]]:
        for group in self.all("properties"):
            for one in group.all("property"):
                yield one.attributes.get("name", "").lower(), one.attributes.get("value", one.text.strip())


def read(source: Source) -> Imported:
    """A statement for each suite, on its host, and for each case that names a card."""
    root = _parsed(source.content)
    suites = list(_suites(root))
    if not suites:
        raise NotReadable(sentence("No `testsuite` found. Send a JUnit XML report."))
    nodes, cards = list[NodeStatement](), list[CardStatement]()
    complete = True
    for suite in suites:
        node = (
            name(suite.attributes.get("hostname")) or name(dict(suite.properties()).get("node")) or source.node or None
        )
        cases = [_case(one, node, suite) for one in suite.all("testcase")]
        check_count(len(cards) + len(cases))
        mine = [card for card, _ in cases if card is not None]
        cards += mine
        all_here = _all_here(suite)
        ran = all(card.verdict != "skipped" for card in mine)
        complete = complete and all_here and ran
        verdicts: list[Verdict] = [found for _, found in cases]
        # What stands in a suite beside its cases, such as an error of its own.
        verdicts += [verdict for tag, verdict in _OUTCOMES if suite.all(tag)]
        verdict = (
            whole(worst(verdicts), all_here and ran)
            if verdicts
            else "errored"
            if not suite.all("testsuite")
            else "passed"
        )
        if not verdicts and suite.all("testsuite"):
            continue
        nodes.append(_statement(suite, node, verdict, cases))
    check_count(len(nodes))
    stamps = [at for one in suites if (at := moment(one.attributes.get("timestamp"))) is not None]
    return Imported(
        format=FORMAT.name,
        tool_version=None,
        verdict=whole(worst(one.verdict for one in nodes), complete),
        complete=complete,
        nodes=tuple(nodes),
        cards=tuple(cards),
        at=max(stamps, default=None),
        facts={"suites": [name(one.attributes.get("name")) for one in suites[:200]]},
    )


def _suites(element: _Element) -> Iterator[_Element]:
    if element.tag == "testsuite":
        yield element
    if element.tag in ("testsuite", "testsuites"):
        for one in element.inside:
            yield from _suites(one)


def _all_here(suite: _Element) -> bool:
    """Whether there are as many cases as the suite counts, and as many that failed: else the report was cut or edited."""
    inner = [one for suite in _suites(suite) for one in suite.all("testcase")]
    for attribute, tags in (("tests", ()), ("failures", ("failure",)), ("errors", ("error",))):
        count = whole_number(suite.attributes.get(attribute))
        found = len(inner) if not tags else sum(1 for one in inner if any(one.all(tag) for tag in tags))
        if count is not None and count > found + sum(len(suite.all(tag)) for tag in tags):
            return False
    return True


def _case(case: _Element, node: str | None, suite: _Element) -> tuple[CardStatement | None, Verdict]:
    """What it states of its card, None where it names none; its verdict."""
    given = dict(case.properties())
    verdict: Verdict = next((found for tag, found in _OUTCOMES if case.all(tag)), "passed")
    warnings = [value for key, value in case.properties() if key == "warning"]
    if verdict == "passed" and warnings:
        verdict = "warning"
    uuid, index = _card(case, given)
    serial = name(given.get("serial"))
    if uuid is None and index is None and serial is None:
        return None, verdict
    text = _why(case) or (said(warnings[0]) if warnings else "")
    statement = CardStatement(
        node=name(given.get("node")) or node,
        index=index,
        uuid=uuid,
        serial=serial,
        verdict=verdict,
        test=name(suite.attributes.get("name")) or name(case.attributes.get("classname")),
        error_id=whole_number(given.get("error_id")),
        error_severity=whole_number(given.get("error_severity")),
        because=text,
        level="ran" if verdict == "passed" else "",
    )
    return statement, verdict


def _card(case: _Element, given: dict[str, str]) -> tuple[str | None, int | None]:
    uuid = name(given.get("uuid")) or name(given.get("gpu_uuid"))
    if uuid is None:
        labels = [case.attributes.get(key, "")[:1000] for key in ("name", "classname")]
        uuid = next((found[0] for one in labels if (found := UUID.search(one))), None)
    index = next((whole_number(given[key], 9999) for key in ("index", "gpu", "gpu_id", "card") if key in given), None)
    if index is None:
        label = _INDEX.search(case.attributes.get("name", "")[:1000])
        index = int(label[1]) if label else None
    return uuid, index


def _why(case: _Element) -> str:
    for tag, _ in _OUTCOMES:
        for one in case.all(tag):
            return said(one.attributes.get("message") or one.text)
    return ""


def _statement(
    suite: _Element, node: str | None, verdict: Verdict, cases: list[tuple[CardStatement | None, Verdict]]
) -> NodeStatement:
    elements = suite.all("testcase")
    same = [one for one, (_, found) in zip(elements, cases, strict=True) if found == verdict and verdict != "passed"]
    because = ""
    if same:
        because = sentence(
            "{test}: {verdict}{text}",
            test=name(same[0].attributes.get("name")) or "–",
            verdict=known(verdict),
            text=f": {text}" if (text := _why(same[0])) else "",
        )
    elif verdict == "incomplete":
        because = sentence("Not all tests of the suite have a result.")
    elif verdict == "errored":
        because = sentence("The suite has no test.")
    level: Level = "ran" if verdict == "passed" else ""
    return NodeStatement(
        node=node, verdict=verdict, because=because, test=name(suite.attributes.get("name")), level=level
    )


def _parsed(content: bytes) -> _Element:
    if len(content) > MOST_BYTES:
        raise NotReadable(
            sentence(
                "{name} has more than {most} bytes. Send only the report of the tool.",
                name=sentence("The file"),
                most=MOST_BYTES,
            )
        )
    reader = _Reader()
    try:
        return reader.read(content)
    except expat.ExpatError as error:
        text = expat.ErrorString(error.code) or "–"
        raise NotReadable(
            sentence(
                "Line {line}: not XML ({error}). Send the file as the tool wrote it.", line=error.lineno, error=text
            )
        ) from None
    except (LookupError, ValueError):
        raise NotReadable(sentence("Unknown encoding of the XML. Send it in UTF-8.")) from None


class _Reader:
    """The elements of a document; no entity is followed, and no document type is read."""

    def __init__(self) -> None:
        self._root: _Element | None = None
        self._open: list[_Element] = []
        self._count = 0
        self._parser: Any = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.StartDoctypeDeclHandler = self._refuse
        self._parser.EntityDeclHandler = self._refuse
        self._parser.ExternalEntityRefHandler = self._refuse
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._text

    def read(self, content: bytes) -> _Element:
        self._parser.Parse(content, True)
        if self._root is None:
            raise NotReadable(sentence("No `testsuite` found. Send a JUnit XML report."))
        return self._root

    def _refuse(self, *_: Any) -> Any:
        line = self._parser.CurrentLineNumber
        raise NotReadable(sentence("Line {line}: a document type is not accepted. Remove `<!DOCTYPE …>`.", line=line))

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self._count += 1
        if self._count > _MOST_ELEMENTS or len(self._open) >= MOST_DEPTH:
            raise NotReadable(
                sentence(
                    "Line {line}: more than {most} elements, or {depth} levels. Send the report in parts.",
                    line=self._parser.CurrentLineNumber,
                    most=_MOST_ELEMENTS,
                    depth=MOST_DEPTH,
                )
            )
        # A namespace says nothing that is used here.
        made = _Element(tag.rpartition(":")[2], attributes)
        if self._open:
            self._open[-1].inside.append(made)
        else:
            self._root = made
        self._open.append(made)

    def _end(self, _: str) -> None:
        self._open.pop()

    def _text(self, text: str) -> None:
        one = self._open[-1]
        if len(one.text) < _MOST_TEXT:
            one.text += text[:_MOST_TEXT]


FORMAT = Format(
    name="junit",
    title=gettext_noop("JUnit XML"),
    read=read,
)
