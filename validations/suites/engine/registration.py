"""Modules become suites and families. What a module lacks is said with its name when gpudash starts, not when it is first used."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from types import MappingProxyType, ModuleType

from validations.suites.engine.base import Suite
from validations.suites.engine.family import Family, names_no_card, no_annotations
from validations.suites.engine.placement import registry
from validations.suites.engine.reason_words import ReasonWords
from validations.suites.engine.security import OF_SUITES

#: Options that manifest and grade read of every suite.
_NEEDED_OPTIONS = ("image", "resource", "deadline_s", "host_memory", "pull_secret")


class SuiteError(ImportError):
    """A module that is no suite. The text names module and attribute."""


class FamilyError(ImportError):
    """A module that declares no resource families. The text names module and attribute."""


def load(package: str, names: Iterable[str]) -> MappingProxyType[str, Suite]:
    """The suites of these modules of the package by id, in the order of their ids. Raises SuiteError."""
    suites = [_suite(f"{package}.{name}") for name in names]
    return MappingProxyType({suite.id: suite for suite in sorted(suites, key=lambda one: one.id)})


def load_families(package: str, names: Iterable[str]) -> tuple[Family, ...]:
    """The families of these modules of the package, in the order of the modules. Raises FamilyError."""
    found: list[Family] = []
    for name in names:
        for family in _families(f"{package}.{name}"):
            if problem := _family_problem(family, found):
                raise FamilyError(f"{package}.{name}: {problem}")
            found.append(family)
    return tuple(found)


def reasons_of(known: Mapping[str, ReasonWords], suites: Mapping[str, Suite]) -> MappingProxyType[str, ReasonWords]:
    """The known reasons and those of the suites, by code. Raises SuiteError when a code is declared twice."""
    found = dict(known)
    for suite in suites.values():
        for one in suite.reasons:
            if one.code in found:
                raise SuiteError(f"suite {suite.id}: SUITE.reasons declares {one.code}, which is declared elsewhere")
            found[one.code] = one
    return MappingProxyType(dict(sorted(found.items())))


def _imported(name: str, error_type: type[ImportError]) -> ModuleType:
    try:
        return import_module(name)
    except (TypeError, ModuleNotFoundError) as error:
        # There is no such module, or an attribute that its declaration must have was not given.
        raise error_type(f"{name}: {error}") from error


def _suite(name: str) -> Suite:
    module = _imported(name, SuiteError)
    suite = getattr(module, "SUITE", None)
    if not isinstance(suite, Suite):
        raise SuiteError(f"{name}: the module has no attribute SUITE that is a Suite")
    if problem := _problem(module, suite):
        raise SuiteError(f"{name}: {problem}")
    return suite


def _problem(module: ModuleType, suite: Suite) -> str:
    """What is wrong with a suite, beginning with the attribute; "" for nothing."""
    wanted = module.__name__.rpartition(".")[2].replace("_", "-")
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


def _families(name: str) -> tuple[Family, ...]:
    found = getattr(_imported(name, FamilyError), "FAMILIES", None)
    if not isinstance(found, tuple) or not found or not all(isinstance(one, Family) for one in found):
        raise FamilyError(f"{name}: the module has no attribute FAMILIES that is a tuple of Family")
    return found


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
