"""Every command, option, verb and address that the docs show exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.core.management import CommandError, get_commands, load_command_class
from django.urls import Resolver404, resolve

import manage
from fleetsim import Fleet
from gpudash.demo_programs import demo_programs
from gpudash.management.commands import demo
from tests.docs.reading import PAGES, ROOT, console_lines, manage_calls

SHOWN = [(page.name, call) for page in PAGES for call in manage_calls(page)]


def refused(call: list[str]) -> str:
    """Why gpudash would not take these words; "" when it would."""
    _, name, *words = manage.words(["gpudash", *call])
    app = get_commands().get(name)
    if app is None:
        return f"there is no command {name}"
    command = load_command_class(app, name) if isinstance(app, str) else app
    try:
        command.create_parser("manage.py", name).parse_args(words)
    except CommandError as error:
        return str(error)
    return ""


@pytest.mark.parametrize(("page", "call"), SHOWN, ids=[f"{page}: {' '.join(call)}" for page, call in SHOWN])
def test_a_command_that_is_shown_takes_these_options(page: str, call: list[str]) -> None:
    assert refused(call) == ""


def test_an_option_that_does_not_exist_is_noticed() -> None:
    assert "unrecognized arguments" in refused(["inspect", "--colour"])
    assert "no command" in refused(["inspekt"])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_named_in_the_text_exists(page: Path) -> None:
    named = set(re.findall(r"manage\.py ([a-z_]+)", page.read_text(encoding="utf-8")))
    assert named <= set(get_commands())


def verbs_of(text: str) -> set[str]:
    """Verbs after `make` where it stands as code: in back quotes or at a prompt."""
    return set(re.findall(r"(?:`|^ *\$ )make ([a-z][a-z0-9-]*)", text, re.MULTILINE))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_verb_of_make_that_is_named_exists(page: Path) -> None:
    known = set(re.findall(r"^([a-z][a-z0-9-]*):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert verbs_of(page.read_text(encoding="utf-8")) <= known


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_address_that_is_asked_for_exists(page: Path) -> None:
    lost = []
    for line in console_lines(page):
        for address in re.findall(r"http://127\.0\.0\.1:800[01](/[^\s'?]*)", line):
            try:
                resolve(address)
            except Resolver404:
                lost.append(address)
    assert not lost


def test_the_demo_prints_what_the_tour_shows() -> None:
    printed = demo._measured(Fleet(nodes=60, seed=1, programs=demo_programs()))
    assert f"\n{printed}\n" in (ROOT / "docs" / "try.md").read_text(encoding="utf-8")


def test_the_readme_and_the_tour_have_a_fleet_of_the_size_that_the_demo_has() -> None:
    nodes = load_command_class("gpudash", "demo").create_parser("manage.py", "demo").get_default("nodes")
    for page in ("README.md", "docs/try.md"):
        named = re.findall(r"[Ss]imulated fleet of (\d+) nodes", (ROOT / page).read_text(encoding="utf-8"))
        assert set(named) == {str(nodes)}, page
