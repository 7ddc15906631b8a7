"""Options of a suite: typed, bounded, with a help text, so that one form and one REST schema can be made of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Literal, TypeAlias

import msgspec

from validations.suites.engine.security import NOBODY
from validations.suites.engine.words import gettext_noop
from wording.said import sentence

Values: TypeAlias = dict[str, str | int]

#: An image reference as the registries take it: host, path, tag, digest.
IMAGE = r"[a-z0-9][A-Za-z0-9._:/-]{0,254}(@sha256:[0-9a-f]{64})?"
#: A region is part of a host name; a closed list would be out of date soon.
REGION = r"[a-z]{2}-[a-z]+(-[a-z0-9]+)*"
QUANTITY = r"[1-9][0-9]{0,5}(Ki|Mi|Gi)"
NAME = r"([a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?)?"
RESOURCE = r"([a-z0-9][a-z0-9.-]{0,252}/[A-Za-z0-9][A-Za-z0-9._-]{0,62})?"


class Option(msgspec.Struct, frozen=True, kw_only=True):
    """One option. Text is bounded by `pattern` (whole match) or `choices`; whole numbers by minimum and maximum.

    help: marked for translation (`gettext_noop`). covers_less: of a number: a pass with a greater value says all that one with a
    lesser value does, such as that of a longer diagnostic; each value from the one asked for to the maximum is looked for.
    """

    name: str
    help: str
    default: str | int
    kind: Literal["text", "number"] = "text"
    pattern: str = r".{0,255}"
    choices: tuple[str, ...] = ()
    minimum: int = 0
    maximum: int = 2**31 - 1
    required: bool = False
    covers_less: bool = False


class OptionError(ValueError):
    """Options that make no sense. problems: option name → what is wrong with it and what is allowed."""

    def __init__(self, problems: dict[str, str]) -> None:
        super().__init__("; ".join(f"{name}: {text}" for name, text in problems.items()))
        self.problems = problems


_NO_SUCH = sentence("unknown option")


def settle(options: Iterable[Option], given: Mapping[str, object]) -> Values:
    """Defaults overlaid with what was given. Raises OptionError with all problems at once."""
    known = {option.name: option for option in options}
    problems: dict[str, str] = {str(name)[:100]: _NO_SUCH for name in given if name not in known}
    values: Values = {}
    for name, option in known.items():
        value = _number(option, given.get(name, option.default))
        if problem := _problem(option, value):
            problems[name] = problem
        elif isinstance(value, str | int):
            values[name] = value
    if problems:
        raise OptionError(problems)
    return values


def _number(option: Option, value: object) -> object:
    """Forms and command lines send numbers as text."""
    if option.kind == "number" and isinstance(value, str) and re.fullmatch(r"[0-9]{1,10}", value, re.ASCII):
        return int(value)
    return value


def _problem(option: Option, value: object) -> str:
    if option.kind == "number":
        if type(value) is not int or not option.minimum <= value <= option.maximum:
            return sentence("must be an integer from {least} to {most}", least=option.minimum, most=option.maximum)
        return ""
    if not isinstance(value, str):
        return sentence("must be text")
    if option.required and not value:
        return sentence("must not be empty")
    if option.choices:
        return "" if value in option.choices else sentence("must be one of: {names}", names=", ".join(option.choices))
    if value == option.default or re.fullmatch(option.pattern, value):
        return ""
    return sentence("must match {pattern}", pattern=option.pattern)


_IMAGE_HELP = gettext_noop("Container image.")


def image(default: str, text: str = _IMAGE_HELP) -> Option:
    """The image option. An empty default makes it a required one. text: its help, marked for translation."""
    return Option(name="image", help=text, default=default, pattern=IMAGE, required=not default)


def common(*, deadline_s: int, host_memory: str) -> tuple[Option, ...]:
    """The options that every suite has. deadline_s counts from the Job's start, so waiting and image pull are in it."""
    return (
        Option(
            name="resource",
            help=gettext_noop("Extended resource to request. Empty: the most suitable one of the node."),
            default="",
            pattern=RESOURCE,
        ),
        Option(
            name="deadline_s",
            help=gettext_noop("Deadline of the Job in seconds, including pending time and image pull."),
            default=deadline_s,
            kind="number",
            minimum=60,
            maximum=86_400,
        ),
        Option(name="host_memory", help=gettext_noop("Host memory to request."), default=host_memory, pattern=QUANTITY),
        Option(name="pull_secret", help=gettext_noop("Pull secret for the image."), default="", pattern=NAME),
    )


def linux(*, gpu_memory_mib: int = 1024, user: int = NOBODY) -> tuple[Option, ...]:
    """The options of suites that run on NVIDIA cards on Linux. user: 0 where the program must be root."""
    return (
        Option(
            name="gpu_memory_mib",
            help=gettext_noop("Card memory to request on stacks that share by memory (gpushare, HAMi), in MiB."),
            default=gpu_memory_mib,
            kind="number",
            minimum=1,
            maximum=1_048_576,
        ),
        Option(
            name="runtime_class",
            help=gettext_noop("RuntimeClass. auto: nvidia if the cluster has it. none: not set."),
            default="auto",
            pattern=r"[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?",
        ),
        run_as_user(user),
    )


def run_as_user(user: int) -> Option:
    """The option of all that runs on Linux. user: 0 where the program must be root."""
    return Option(
        name="run_as_user",
        help=gettext_noop("User ID of the program. 0: the user of the image, which may be root."),
        default=user,
        kind="number",
        maximum=2**31 - 1,
    )
