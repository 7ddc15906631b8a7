"""What a suite and a resource family must declare, and what only one may have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from validations.suites.engine.base import Suite
from validations.suites.engine.family import Family, names_no_card, no_annotations
from validations.suites.engine.placement import registry
from validations.suites.engine.reason_words import ReasonWords
from validations.suites.engine.security import OF_SUITES

#: Options that manifest and grade read of every suite.
_NEEDED_OPTIONS = ("image", "resource", "deadline_s", "host_memory", "pull_secret")


def check_suites(known: Mapping[str, ReasonWords], suites: Mapping[str, Suite]) -> None:
    """known: reasons of all suites. suites: module → its suite. Raises AssertionError, which names module and attribute."""
    reasons = set(known)
    for module, suite in suites.items():
        if problem := _problem(module, suite):
            raise AssertionError(f"{module}: {problem}")
        for one in suite.reasons:
            if one.code in reasons:
                raise AssertionError(f"{module}: SUITE.reasons declares {one.code}, which is declared elsewhere")
            reasons.add(one.code)


def check_families(families: Iterable[Family]) -> None:
    """Raises AssertionError, which names the family and the attribute."""
    found: list[Family] = []
    for family in families:
        if problem := _family_problem(family, found):
            raise AssertionError(problem)
        found.append(family)


def _problem(module: str, suite: Suite) -> str:
    """What is wrong with a suite, beginning with the attribute; "" for nothing."""
    wanted = module.replace("_", "-")
    if suite.id != wanted:
        return f"SUITE.id is {suite.id!r}; by the name of the module it is {wanted!r}"
    for attribute in ("title", "proves", "os", "families", "options"):
        if not getattr(suite, attribute):
            return f"SUITE.{attribute} is empty"
    if unknown := [name for name in suite.families if name not in registry.families]:
        return f"SUITE.families names {', '.join(unknown)}, which is no family of `validations.suites.families`"
    names = [option.name for option in suite.options]
    if missing := [name for name in _NEEDED_OPTIONS if name not in names]:
        return f"SUITE.options lacks {', '.join(missing)} (see `options.common` and `options.image`)"
    if suite.pod_security not in OF_SUITES:
        return f"SUITE.pod_security is {suite.pod_security!r}; it is {' or '.join(OF_SUITES)}"
    if set(suite.needs) != set(suite.os):
        return f"SUITE.needs has {', '.join(suite.needs) or 'nothing'}; it has what is needed on {' and on '.join(suite.os)}"
    if not suite.demo.images:
        return "SUITE.demo.images is empty"
    return ""


def _family_problem(family: Family, before: Iterable[Family]) -> str:
    """What is wrong with a family, beginning with the attribute; "" for nothing. before: those that are registered already."""
    for attribute in ("name", "apis"):
        if not getattr(family, attribute):
            return f"FAMILIES: {attribute} is empty"
    where = f"family {family.name}"
    for attribute in ("apis", "resources", "variables"):
        if not isinstance(getattr(family, attribute), tuple):
            return f"{where}: {attribute} is no tuple"
    for attribute in ("units", "also", "names_card", "annotations", "mounts", "lacking"):
        if not callable(getattr(family, attribute)):
            return f"{where}: {attribute} is no function"
    if family.os not in ("linux", "windows"):
        return f"{where}: os is {family.os!r}; it is linux or windows"
    if not family.resources and family.serves is None:
        return f"{where}: resources is empty, and serves is not given"
    if (family.names_card is names_no_card) is not (family.annotations is no_annotations):
        return f"{where}: names_card and annotations are given together"
    if family.binds and family.names_card is names_no_card:
        return f"{where}: names_card is not given, though it binds"
    for other in before:
        if other.name == family.name:
            return f"{where}: name is that of another family"
        if other.stack == family.stack and (same := {*family.resources} & {*other.resources}):
            return f"{where}: resources has {sorted(same)[0]}, which is that of family {other.name}"
    return ""
