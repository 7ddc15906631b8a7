"""The pages speak Chinese too, and a finding is called the same wherever it is read."""

from __future__ import annotations

import re

from django.test import Client
from django.utils.translation import override

from exporters import xid
from exporters.conditions.known import EKS_REASONS, KNOWN, NVSENTINEL
from exporters.engine.problems import CODES
from inventory.catalogue import CATALOGUE
from inventory.health import judge, of_labels, of_plugins, of_signs
from inventory.health.words import ACTIONS, SOURCES
from inventory.models import Cluster
from pages.words import exporters as exporter_words
from pages.words import health as health_words
from pages.words.catalogue import SYSTEMS, TITLES
from pages.words.ways import LABELS, RULES
from runtime.spans import span
from stacks import STACKS
from stacks.dra import told as dra_told
from stacks.engine import told
from tests.exporters.test_conditions import NAMES, read
from tests.factories import make_finding
from tests.pages.reading import get
from tests.processes import ROOT

MESSAGES = ROOT / "locale" / "zh_Hans" / "LC_MESSAGES" / "django.po"
_ENTRY = re.compile(r'^msgid "(.+)"\n(?:msgid_plural "(.+)"\n)?msgstr(?:\[0\])? "(.*)"$', re.MULTILINE)
_FIELD = re.compile(r"%\((\w+)\)[sd]|</?b>")


def test_every_finding_has_its_title_among_the_words_to_translate() -> None:
    assert set(TITLES) == {entry.title for entry in CATALOGUE.values()}


def test_what_sources_of_health_say_is_among_the_words_to_translate() -> None:
    tables = [*(of_plugins.SAYS, of_signs.SAYS, judge.SAYS, told.SAYS, dra_told.SAYS)]
    known = [*KNOWN.values(), *NVSENTINEL.values()]
    said = {text for table in tables for text in table.values()} | {one.title for one in xid.XIDS.values()}
    said |= {text for one in known for text in (one.headline, one.fine)} | {one[1] for one in EKS_REASONS}
    said |= set(of_labels.SAYS)
    assert said - {""} - set(health_words.SAYS) == set()
    assert set(health_words.ACTIONS) == set(ACTIONS.values())
    assert set(health_words.SOURCES) == set(SOURCES.values())


def test_what_is_dropped_of_exporters_pages_is_among_the_words_to_translate() -> None:
    assert set(exporter_words.DOUBTS) == set(CODES.values())


def test_what_recorded_conditions_say_is_among_the_words_to_translate() -> None:
    found = {one.headline for name in NAMES for one in read(name)}
    assert found - {""} - set(health_words.SAYS) == set()


def test_what_sharing_systems_declare_is_among_the_words_to_translate() -> None:
    declared = {text for stack in STACKS for text in (stack.daemonsets_for, stack.devices_for, stack.terminating)}
    declared |= {stack.config_maps.read_for for stack in STACKS if stack.config_maps is not None}
    assert set(SYSTEMS) == declared - {""}


def test_the_ways_to_ask_for_cards_are_among_the_words_to_translate() -> None:
    ways = [way for stack in STACKS for way in stack.ways]
    assert list(LABELS) == [way.label for way in ways]
    assert set(RULES) == {way.rule for way in ways}


def test_a_translation_has_the_fields_of_its_original() -> None:
    entries = _ENTRY.findall(MESSAGES.read_text())
    assert len(entries) > 300
    for original, _plural, text in entries:
        if text:
            assert sorted(_FIELD.findall(text)) == sorted(_FIELD.findall(original)), original


def test_the_pages_speak_the_language_that_was_chosen(viewer: Client, fleet: Cluster) -> None:
    make_finding(fleet, "units-mixed", "warning")
    viewer.post("/i18n/setlang/", {"language": "zh-hans", "next": "/"})
    page = get(viewer, "/")
    assert page.tags_of("html")[0]["lang"] == "zh-hans"
    assert "总览" in page.text
    assert "显存单位混用" in get(viewer, "/findings").text
    assert "未知" in get(viewer, "/nodes").text


def test_ages_and_cards_are_named_in_chinese() -> None:
    with override("zh-hans"):
        assert span(180) == "3 分钟"


def test_the_pages_of_the_inventory_leave_no_word_untranslated(viewer: Client, fleet: Cluster) -> None:
    """Words of templates that are still English on a Chinese page: only those that are names."""
    viewer.post("/i18n/setlang/", {"language": "zh-hans", "next": "/"})
    names = {"gpudash", "REST API", "English", "CSV", "UUID", "GiB", "GPU", "Pod", "Kubelet"}
    for path in ("/nodes", "/cards", "/allocations", "/findings", "/clusters"):
        heads = re.findall(r'<th scope="col"[^>]*>(?:<a[^>]*>)?([^<]+)', get(viewer, path).html)
        assert [head for head in heads if re.fullmatch(r"[\x20-\x7e]+", head) and head not in names] == [], path
