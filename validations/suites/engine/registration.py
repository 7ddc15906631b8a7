"""Modules become suites. What a module lacks is said with its name when gpudash is started, not when the suite is first used."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from types import MappingProxyType, ModuleType

from validations.suites.engine.base import Suite
from validations.suites.engine.reasons import ReasonWords

#: Options that manifest and grade read of every suite.
_NEEDED_OPTIONS = ("image", "resource", "deadline_s", "host_memory", "pull_secret")


class SuiteError(ImportError):
    """A module that is no suite. The text names module and attribute."""


def load(package: str, names: Iterable[str]) -> MappingProxyType[str, Suite]:
    """The suites of these modules of the package by id, in the order of their ids. Raises SuiteError."""
    suites = [_suite(f"{package}.{name}") for name in names]
    return MappingProxyType({suite.id: suite for suite in sorted(suites, key=lambda one: one.id)})


def reasons_of(known: Mapping[str, ReasonWords], suites: Mapping[str, Suite]) -> MappingProxyType[str, ReasonWords]:
    """The known reasons and those of the suites, by code. Raises SuiteError when a code is declared twice."""
    found = dict(known)
    for suite in suites.values():
        for one in suite.reasons:
            if one.code in found:
                raise SuiteError(f"suite {suite.id}: SUITE.reasons declares {one.code}, which is declared elsewhere")
            found[one.code] = one
    return MappingProxyType(dict(sorted(found.items())))


def _suite(name: str) -> Suite:
    try:
        module = import_module(name)
    except TypeError as error:
        # An attribute that `Suite` must have and was not given.
        raise SuiteError(f"{name}: {error}") from error
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
    names = [option.name for option in suite.options]
    if missing := [name for name in _NEEDED_OPTIONS if name not in names]:
        return f"SUITE.options lacks {', '.join(missing)} (see `options.common` and `options.image`)"
    if not suite.demo.images:
        return "SUITE.demo.images is empty"
    return ""
