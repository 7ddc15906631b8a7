"""A report as it is written, of DCGM 2 to 4: the results of its tests, and what there was to test. The package judges
what they say of a card.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from validations.imports.engine.document import Object, check_count, name, obj, objects, said, whole_number
from validations.imports.engine.statement import NotReadable, Verdict
from wording.said import sentence

BODIES = ("DCGM Diagnostic", "DCGM GPU Diagnostic")
CARD = "GPU"
_NUMBERS = re.compile(r"\d{1,6}")
#: Severities of DCGM's errors: the card works and is to be watched; the card cannot work; something is to be set up; it is to be
#: drained and reset.
MONITOR, ISOLATE, CONFIG, RESET = 1, 2, 5, 6
#: In any version: "Pass", "PASSED", "Skip - All", "Fail - GPUs: 0, 1", "Not Run".
_STATUS = re.compile(r"(pass|fail|warn|skip|not run)(?:ed|ped|ing)?\s{0,4}(?:-.*)?\Z")
_VERDICTS: dict[str, Verdict] = {
    "pass": "passed",
    "fail": "failed",
    "warn": "warning",
    "skip": "skipped",
    # It was to run and did not: nothing is known of the card.
    "not run": "incomplete",
}
#: Where the tool writes errors that are of no test.
_GLOBAL = ("global_errors", "errors", "error", "warnings", "warning", "mpi_error")
#: Categories whose tests check software only.
_SOFTWARE = ("deployment",)


class Error(msgspec.Struct, frozen=True):
    text: str
    id: int | None = None
    category: int | None = None
    severity: int | None = None


class Result(msgspec.Struct, frozen=True):
    """What a test says of a card, of another entity, or of the node (entity None)."""

    test: str
    software: bool
    verdict: Verdict
    entity: tuple[str, int] | None = None
    errors: tuple[Error, ...] = ()


class Report(msgspec.Struct):
    results: list[Result] = []
    serials: dict[tuple[str, int], str] = {}
    levels: list[str] = []
    version: str | None = None
    driver: str | None = None
    aborted: str = ""
    #: Fewer cards than the report counts are named in it.
    unnamed: int = 0


def report_of(document: Object, where: str) -> Report:
    body = next((document[key] for key in BODIES if isinstance(document.get(key), dict)), None)
    if body is None:
        raise NotReadable(
            sentence(
                "{where} has no “{name}”. Send the output of `dcgmi diag -j`.", where=where or "JSON", name=BODIES[0]
            )
        )
    made = Report()
    metadata = obj(document.get("metadata"))
    places = (metadata, document, body)
    made.version = _first(places, "version", "DCGM Version")
    made.driver = _first(places, "Driver Version Detected")
    made.aborted = said(body.get("runtime_error") or document.get("runtime_error"))
    _entities(made, document)
    for place in (document, body):
        _global(made, place)
    for category in objects(body.get("test_categories")):
        label = name(category.get("category")) or ""
        if label and label not in made.levels and len(made.levels) < 16:
            made.levels.append(label)
        for test in objects(category.get("tests")):
            made.results += _results(test, label.lower() in _SOFTWARE)
            check_count(len(made.results) // 8)
    return made


def _first(places: tuple[Object, ...], *keys: str) -> str | None:
    return next((found for place in places for key in keys if (found := name(place.get(key)))), None)


def _entities(made: Report, document: Object) -> None:
    """What was to be tested, with serial numbers: DCGM 4 lists it by kind, DCGM 3 counts its cards."""
    for group in objects(document.get("entity_groups")):
        kind = name(group.get("entity_group")) or ""
        for one in objects(group.get("entities")):
            number = whole_number(one.get("entity_id"))
            if number is not None:
                made.serials[kind, number] = name(one.get("serial_num")) or ""
    serials = document.get("GPU Device Serials")
    for index, serial in obj(serials).items():
        if (number := whole_number(index)) is not None:
            made.serials[CARD, number] = name(serial) or ""
    ids = document.get("GPU Device IDs")
    cards = sum(1 for kind, _ in made.serials if kind == CARD)
    made.unnamed = max(len(ids) - cards, 0) if isinstance(ids, list) else 0
    check_count(len(made.serials))


def _global(made: Report, place: Object) -> None:
    errors = tuple(error for key in _GLOBAL for error in _errors(place.get(key)))
    if errors:
        made.results.append(Result("", True, _failed(errors), None, errors))


def _results(test: Object, software: bool) -> Iterator[Result]:
    label = name(test.get("name")) or ""
    # DCGM 3 fills the list by index: null stands for a card that did not run the test.
    results = objects(test.get("results"))
    failed = False
    for one in results:
        errors = _all_errors(one)
        verdict = _verdict(one.get("status"), errors)
        for entity in _of(one) or [None]:
            failed = failed or verdict in ("failed", "warning")
            yield Result(label, software, verdict, entity, errors)
    summary = obj(test.get("test_summary"))
    errors = _all_errors(summary) + tuple(_errors(test.get("mpi_error")))
    verdict = _verdict(summary.get("status", test.get("status")), errors)
    # The summary repeats its cards, unless an error is of none of them.
    if errors or (not results and "status" in (summary or test)) or (verdict == "failed" and not failed):
        yield Result(label, software, verdict, None, errors)


def _of(result: Object) -> list[tuple[str, int] | None]:
    """Entities that a result is of: one of DCGM 4; numbers that DCGM 3 writes as text, and as a number beside an error."""
    number, kind = whole_number(result.get("entity_id")), name(result.get("entity_group"))
    if number is not None:
        label = kind or (CARD if result.get("entity_group_id") in (None, 1) else str(result.get("entity_group_id")))
        return [(name(label) or "", number)]
    given = result.get("gpu_ids", result.get("gpu_id"))
    if isinstance(given, bool) or not isinstance(given, int | str):
        return []
    found = _NUMBERS.findall(given[:2000]) if isinstance(given, str) else [str(given)] if given >= 0 else []
    return [(CARD, int(one)) for one in found if len(one) <= 6]


def _verdict(status: Any, errors: tuple[Error, ...]) -> Verdict:
    match = _STATUS.match(said(status).lower().replace("_", " "))
    if match is None:
        # A word that is not known is never a pass.
        return _failed(errors) if errors else "errored"
    verdict = _VERDICTS[match[1]]
    if verdict == "failed":
        return _failed(errors)
    # DCGM is known to say Pass beside the text of an error.
    return "warning" if verdict == "passed" and errors else verdict


def _failed(errors: tuple[Error, ...]) -> Verdict:
    """DCGM writes WARN as Fail; severities that blame no hardware distinguish it from a failure."""
    mild = bool(errors) and all(one.severity in (MONITOR, CONFIG) for one in errors)
    return "warning" if mild else "failed"


def _all_errors(result: Object) -> tuple[Error, ...]:
    """Of a result, whose "warnings" are a list of objects or texts, one object, or in Deployment the text beside its numbers."""
    found = list(_errors(result.get("warnings")))
    found += _errors(result.get("warning"))
    if len(found) == 1 and found[0].id is None and "error_id" in result:
        found = [_error(result, found[0].text)]
    elif not found and "error_id" in result and whole_number(result.get("error_id")):
        found = [_error(result, "")]
    return tuple(found[:64])


def _errors(value: Any) -> Iterator[Error]:
    for one in value[:64] if isinstance(value, list) else [value]:
        if isinstance(one, dict):
            text = next(
                (one[key] for key in ("warning", "warnings", "error", "message") if isinstance(one.get(key), str)), ""
            )
            if text or whole_number(one.get("error_id")):
                yield _error(one, said(text))
        elif text := said(one):
            yield Error(text)


def _error(place: Object, text: str) -> Error:
    category, severity = whole_number(place.get("error_category")), whole_number(place.get("error_severity"))
    return Error(text, whole_number(place.get("error_id")), category, severity)
