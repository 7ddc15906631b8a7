"""The pages speak Chinese too, and a finding is called the same wherever it is read."""

from __future__ import annotations

import re

from django.test import Client
from django.utils.translation import override

from inventory.models import Cluster
from runtime.spans import span
from tests.factories import make_finding
from tests.pages.reading import get
from tests.processes import ROOT

MESSAGES = ROOT / "locale" / "zh_Hans" / "LC_MESSAGES" / "django.po"
_ENTRY = re.compile(r'^msgid "(.+)"\n(?:msgid_plural "(.+)"\n)?msgstr(?:\[0\])? "(.*)"$', re.MULTILINE)
_FIELD = re.compile(r"%\((\w+)\)[sd]|</?b>")


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
