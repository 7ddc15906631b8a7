"""The whole product in Simplified Chinese: every marked text has its words, the compiled catalogue is current, no page is left out.

Reads sources and catalogues with the standard library only: gettext's own tools need not be installed.
"""

from __future__ import annotations

import ast
import gettext
import re
import struct
from collections.abc import Iterator
from functools import cache
from html import unescape
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils.translation.template import templatize

from exporters import xid
from exporters.conditions.known import EKS_REASONS, KNOWN, NVSENTINEL
from exporters.engine.problems import CODES
from gpudash.config.external_accounts import Issuer
from inventory.catalogue import CATALOGUE
from inventory.health import judge, of_labels, of_plugins, of_signs
from inventory.health.words import ACTIONS, SOURCES
from inventory.models import Card, Cluster
from stacks import STACKS
from stacks.dra import health_reports as dra_reports
from stacks.engine import health_reports
from tests.cast import PASSWORD, make_token, make_user, signed_in
from tests.exporters.test_conditions import NAMES, read
from tests.factories import make_finding, make_node, make_pending_pod, make_unreadable
from tests.packages import sources
from tests.pages.reading import get
from tests.pages.validations.rows import PASSED_LOG, make_run, reason
from tests.processes import ROOT
from validations.models import Campaign, CampaignTarget, Run
from validations.suites import reasons, registry

MESSAGES = ROOT / "locale" / "zh_Hans" / "LC_MESSAGES"
MARKS = {"_", "lazy", "gettext", "gettext_lazy", "gettext_noop", "ngettext", "ngettext_lazy", "sentence"}
#: What `templatize` makes of a mark: gettext(u'…'), ngettext(u'…', …), _("…").
_MARK = re.compile(r"""(?:_|gettext)\(\s*(u?(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'))""")
#: Attributes with words for a reader; data-label and the others are printed by the style sheet or the script.
_ATTRIBUTE = re.compile(
    r'(?:title|aria-label|placeholder|data-(?:label|live|paused|lost|pause|go|words|updated))="([^"]+)"'
)
_FIELD = re.compile(r"%\(\w+\)[sd]|%[sd]|</?\w+[^>]*>|\{\}")


class Entry:
    """One message of the .po: its texts, its flags, and whether it is obsolete."""

    def __init__(self, block: str) -> None:
        self.obsolete = "\n#~" in f"\n{block}"
        self.fuzzy = re.search(r"^#,.*\bfuzzy\b", block, re.MULTILINE) is not None
        self.texts: dict[str, str] = {}
        name = ""
        for line in block.splitlines():
            head = re.match(r'(\w+(?:\[\d\])?) (?=")', line)
            name = head[1] if head else name if line.startswith('"') else ""
            if name:
                self.texts[name] = self.texts.get(name, "") + ast.literal_eval(line[head.end() if head else 0 :])

    @property
    def original(self) -> str:
        return self.texts.get("msgid", "")

    def compiled(self, catalogue: gettext.GNUTranslations) -> str:
        """What a compiled catalogue says for it; Chinese has one form for all numbers."""
        plural = self.texts.get("msgid_plural")
        return catalogue.gettext(self.original) if plural is None else catalogue.ngettext(self.original, plural, 5)

    @property
    def translations(self) -> list[str]:
        return [text for name, text in self.texts.items() if name.startswith("msgstr")]


def entries() -> list[Entry]:
    """All messages; the first block is the header, whose original is empty."""
    return [Entry(block) for block in (MESSAGES / "django.po").read_text().strip().split("\n\n")]


@cache
def messages() -> dict[str, list[str]]:
    return {entry.original: entry.translations for entry in entries() if entry.original}


@cache
def marked_in_templates() -> tuple[tuple[str, str], ...]:
    """(text, file). The templates are read once, the code too: that takes seconds."""
    return tuple(_marked_in_templates())


def _marked_in_templates() -> Iterator[tuple[str, str]]:
    for path in sorted((ROOT / "templates").rglob("*.html")):
        for literal in _MARK.findall(templatize(path.read_text())):
            yield ast.literal_eval(literal), path.name


@cache
def marked_in_code() -> tuple[tuple[str, str], ...]:
    return tuple(_marked_in_code())


def _marked_in_code() -> Iterator[tuple[str, str]]:
    for path in sources():
        source = path.read_text()
        if "gettext" not in source and "sentence(" not in source:
            continue
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in MARKS:
                first = node.args[0] if node.args else None
                if isinstance(first, ast.Constant) and isinstance(first.value, str):
                    yield first.value, path.name


def test_every_marked_text_of_templates_and_code_is_in_the_catalogue() -> None:
    known = messages()
    found = [*marked_in_templates(), *marked_in_code()]
    assert len({text for text, _where in found}) > 700
    assert sorted({(where, text) for text, where in found if text not in known}) == [], (
        "add them to django.po, then msgfmt"
    )


def test_no_entry_is_empty_fuzzy_or_left_over() -> None:
    bad = [one.original for one in entries() if one.obsolete or one.fuzzy or not all(one.translations or [""])]
    assert bad == []


def test_a_translation_keeps_the_fields_and_the_markup_of_its_original() -> None:
    for original, translations in messages().items():
        for text in translations:
            assert sorted(_FIELD.findall(text)) == sorted(_FIELD.findall(original)), original


def test_the_compiled_catalogue_says_what_the_text_says() -> None:
    content = (MESSAGES / "django.mo").read_bytes()
    with (MESSAGES / "django.mo").open("rb") as file:
        compiled = gettext.GNUTranslations(file)
    stale = [one.original for one in entries() if one.original and [one.compiled(compiled)] != one.translations]
    assert stale == [], "run msgfmt -o django.mo django.po"
    assert struct.unpack("<I", content[8:12])[0] == len(entries()), "messages of the .mo that the .po does not have"


def test_what_suites_say_is_marked_to_be_translated() -> None:
    marked, suites = {text for text, _where in marked_in_code()}, registry().values()
    said = {suite.proves for suite in suites} | {option.help for suite in suites for option in suite.options}
    assert said | {one.headline for one in reasons().values()} <= marked


def declared() -> dict[str, set[str]]:
    """What stacks, exporters and findings declare for people to read, by kind."""
    findings, ways = CATALOGUE.values(), [way for stack in STACKS for way in stack.ways]
    tables = (of_plugins.SAYS, of_signs.SAYS, judge.SAYS, health_reports.SAYS, dra_reports.SAYS)
    conditions = [*KNOWN.values(), *NVSENTINEL.values()]
    return {
        "findings": {text for one in findings for text in (one.title, one.meaning, one.action)},
        "refusals of schedulers": {
            text for stack in STACKS for one in stack.refusals for text in (one.says, one.action)
        },
        "what is read of clusters": {
            text for stack in STACKS for text in (stack.daemonsets_for, stack.devices_for, stack.terminating)
        }
        | {stack.config_maps.read_for for stack in STACKS if stack.config_maps is not None},
        "ways": {text for way in ways for text in (way.label, way.rule)},
        "health": {text for table in tables for text in table.values()} | set(of_labels.SAYS),
        "Xids": {one.title for one in xid.XIDS.values()},
        "conditions": {text for one in conditions for text in (one.headline, one.fine)}
        | {one[1] for one in EKS_REASONS}
        | {one.headline for name in NAMES for one in read(name)},
        "what to do": set(ACTIONS.values()) | set(SOURCES.values()),
        "exporters": set(CODES.values()),
    }


@pytest.mark.parametrize("kind", sorted(declared()))
def test_what_is_declared_is_marked_to_be_translated(kind: str) -> None:
    marked = {text for text, _where in marked_in_code()}
    assert declared()[kind] - marked - {""} == set()


@pytest.fixture
def busy(cluster: Cluster) -> dict[str, str]:
    """A cluster with something of everything; name → path of its pages."""
    for name, stack in (("gpu-1", "gpushare"), ("win-1", "directx"), ("gpu-3", "gpushare")):
        make_node(cluster, name, stack, 2, loads=(0.4, 0.0))
    make_pending_pod(cluster, "training")
    make_unreadable(cluster)
    make_finding(cluster, "units-mixed", "warning", "gpu-1")
    card = Card.objects.get(node_name="gpu-1", index=0)
    passed = make_run(cluster, card=card, log=PASSED_LOG, measurements={"load": (12.5, "ms")}, minutes_ago=50)
    Run.objects.filter(pk=passed.pk).update(card_evidence="annotation-v1")
    wrong = reason("verification", "The card gave a wrong result.", 2)
    failed = make_run(cluster, node="win-1", verdict="failed", reasons=[wrong], log=PASSED_LOG)
    active = make_run(cluster, node="gpu-3", state="pulling")
    campaign = Campaign.objects.create(suite="cuda-vectoradd", name="X", max_parallel=1)
    for position, run in enumerate((passed, failed, active, None)):
        CampaignTarget.objects.create(
            campaign=campaign, position=position, cluster=cluster, node_name=f"n-{position}", run=run
        )
    return {
        "card": f"/cards/{card.pk}",
        "card runs": f"/validations/cards/{card.pk}",
        "passed run": f"/validations/runs/{passed.pk}",
        "failed run": f"/validations/runs/{failed.pk}",
        "active run": f"/validations/runs/{active.pk}",
        "campaign": f"/validations/campaigns/{campaign.pk}",
    }


PAGES = (
    "/", "/nodes", "/nodes/prod/gpu-1", "/nodes/prod/win-1", "/cards", "/allocations", "/allocations/pending", "/allocations/idle",
    "/namespaces", "/namespaces?by=owner", "/namespaces/chargeback",
    "/history", "/fit?all=1", "/map", "/map?by=validation&pool=", "/pods/prod/team-a/training",
    "/allocations?at=2020-01-01", "/cards?from=7d", "/findings", "/components", "/components/list", "/clusters", "/clusters/prod",
    "/search?q=gpu", "/account", "/validations", "/validations/suites",
    "/validations/campaigns", "/validations/new?suite=cuda-vectoradd&cluster=prod&node=gpu-1",
    "/validations/campaigns/new?suite=cuda-nbody&target=prod/gpu-1", "/docs/access",
    "/docs/words", "/keys", "/views", "/views?of=nodes&query=stack%3Dhami",
)  # fmt: skip


@cache
def in_chinese() -> frozenset[str]:
    """English texts that are others in Chinese."""
    return frozenset(text for text, (first, *_rest) in messages().items() if first != text)


def english_left(html: str) -> set[str]:
    """Texts and titles of a page that the catalogue has in Chinese, and that the page has in English all the same."""
    body = re.sub(r"<(script|style|code|pre)\b.*?</\1>", "", html, flags=re.DOTALL)
    body = re.sub(r'<article[^>]* lang="en">.*?</article>', "", body, flags=re.DOTALL)  # documents are in English
    texts = re.findall(r">([^<>]+)<", body) + _ATTRIBUTE.findall(body)
    return {unescape(text).strip().rstrip(":.,") for text in texts} & in_chinese()


def test_an_english_page_is_seen_as_english(viewer: Client, busy: dict[str, str]) -> None:
    assert {"Nodes", "Findings", "Free cards"} <= english_left(get(viewer, "/").html)


def test_no_page_has_english_words_that_are_known_in_chinese(viewer: Client, busy: dict[str, str]) -> None:
    viewer.post("/i18n/setlang/", {"language": "zh-hans", "next": "/"})
    left = {}
    for path in (*PAGES, *busy.values()):
        page = get(viewer, path)
        assert page.tags_of("html")[0]["lang"] == "zh-hans"
        assert "总览 容量 节点 卡 热力图 查找容量 工作负载 分配" in page.text
        left[path] = english_left(page.html)
    assert {path: words for path, words in left.items() if words} == {}


def test_nor_have_the_pages_of_administrators_or_those_before_signing_in(
    admin: Client, fleet: Cluster, settings: Any
) -> None:
    settings.OIDC = Issuer("https://example.com", "gpudash", "x", "Example", "groups", ("openid",))
    ada = User.objects.get(username="ada")
    ada.set_password(PASSWORD)
    ada.save()
    make_token(ada)
    nora = make_user("nora")
    nora.is_active = False
    nora.save()
    known = signed_in(ada)
    left = {}
    for client, paths in (
        (known, ("/administration", "/users", "/users?q=nobody-is-called-so", "/users/new", f"/users/{ada.pk}", f"/users/{nora.pk}",
                 "/account", "/account/password", "/account/two-factor", "/audit", "/installation")),
        (Client(), ("/sign-in",)),
    ):  # fmt: skip
        client.post("/i18n/setlang/", {"language": "zh-hans", "next": "/"})
        left |= {path: english_left(get(client, path).html) for path in paths}
    assert "管理" in get(known, "/administration").text
    assert {path: words for path, words in left.items() if words} == {}


def test_what_a_suite_proves_and_a_finding_asks_for_is_said_in_chinese(viewer: Client, busy: dict[str, str]) -> None:
    viewer.post("/i18n/setlang/", {"language": "zh-hans", "next": "/"})
    assert "读回正确结果" in get(viewer, "/validations/suites").text
    assert "所有设备插件使用相同的 --memory-unit 启动" in get(viewer, "/findings").text
    assert "失败：结果错误" in get(viewer, busy["failed run"]).text
    assert "识别依据 Pod 注解（v1）" in get(viewer, busy["passed run"]).text
