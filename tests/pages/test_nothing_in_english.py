"""Every page in Chinese, as an administrator and as viewers see it: no English word of ours is left, whatever state a service is in.

What is looked for, and the words that stay as they are, is `tests.pages.english`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client

from accounts.models import ApiToken
from accounts.roles import Role
from accounts.saved_views import SavedView
from inventory.models import Allocation, Card, Cluster, Pod
from notifications.channels import BY_NAME
from notifications.models import Channel, Delivery, Rule, Silence
from pages.words.names import short_model
from pages.words.out_of_service import TOOLS
from stacks import STACKS
from tests.browser.full import Full, make_full
from tests.browser.trouble import make_trouble
from tests.browser.visits import REFUSED, SIGNED_OUT, VISITS
from tests.cast import make_user, signed_in
from tests.notifications.bell import BELL
from tests.pages.english import TERMS, english_of
from validations.models import Campaign, Policy

#: What is a part of a page, and what is there only for who asks for it.
PARTS = ("/palette", "/palette?q=gpu", "/validations/runs/{passed}/log", "/validations/cards/{card}?of=model", "/views")
#: What the visits themselves ask for.
_TYPED = ("nope", "nothing-is-called-so")


@pytest.fixture
def full(db: None) -> Full:
    made = make_full()
    make_trouble(made)
    return made


def names() -> list[str]:
    """Of what is in the tables, longer ones first."""
    users, tokens = User.objects.values_list("username", flat=True), ApiToken.objects.values_list("name", flat=True)
    named = [
        model.objects.values_list("name", flat=True) for model in (Cluster, Campaign, Policy, SavedView, Channel, Rule)
    ]
    pods = Allocation.objects.values_list("namespace", "pod", "container", "owner_name")
    found = {*users, *tokens, *_TYPED, *TOOLS, *(stack.name for stack in STACKS)}
    found |= {one for rows in named for one in rows} | {one for row in pods for one in row}
    found |= {*Silence.objects.values_list("reason", flat=True), *Channel.objects.values_list("answer", flat=True)}
    found |= {text for row in Delivery.objects.values_list("answer", "title") for text in row}
    # Products, languages by their own names, and the kind of the tests, which nobody translates.
    found |= {*(kind.title for kind in BY_NAME.values()), *(name for _, name in settings.LANGUAGES)}
    found |= {text for one in BELL.settings for text in (one.title, one.help, *one.choices)}
    found |= set(Pod.objects.values_list("name", flat=True))
    found |= {short_model(model) for model in Card.objects.values_list("model", flat=True)}
    return sorted(found - {""}, key=len, reverse=True)


def left_on(client: Client, paths: Iterator[str] | list[str], known: list[str]) -> Mapping[str, list[str]]:
    """Text → the pages that have it in English."""
    client.post("/i18n/setlang/", {"language": "zh-hans", "next": "/"})
    found: dict[str, list[str]] = {}
    for path in paths:
        html = client.get(path).content.decode()
        assert 'lang="zh-hans"' in html or not html.lstrip().startswith("<!doctype"), path
        for text in english_of(html, known):
            found.setdefault(text, []).append(path)
    return found


@pytest.mark.timeout(60)
def test_no_page_of_an_administrator_has_an_english_word_of_ours(full: Full) -> None:
    paths = [*full.paths(), *REFUSED, *(path.format(**full.ids) for path in PARTS)]
    assert len(paths) > len(VISITS)
    assert left_on(signed_in(User.objects.get(username="ada")), paths, names()) == {}


@pytest.mark.timeout(60)
@pytest.mark.sweep  # the pages of the test above with less on them
@pytest.mark.parametrize("name", ["nora", "vera"])
def test_nor_has_one_of_a_viewer(full: Full, name: str) -> None:
    """nora sees two places, vera everything, and neither may launch."""
    user = make_user(name, Role.VIEWER) if name == "vera" else User.objects.get(username=name)
    paths = [*full.paths(), *REFUSED, *(path.format(**full.ids) for path in PARTS)]
    assert left_on(signed_in(user), paths, names()) == {}


def test_nor_has_one_before_signing_in(full: Full) -> None:
    paths = [path.replace("{link}", "x") for paths in SIGNED_OUT.values() for path in paths]
    assert left_on(Client(), paths, names()) == {}


@pytest.mark.parametrize(
    "html",
    [
        "<p>数字 <b>grow</b> 旧</p>",
        '<a title="Cluster not reporting">空闲</a>',
        '<td data-label="Free">0</td>',
        '<input type="submit" value="Filter">',
        '<p lang="en">Forbidden <span lang="zh-hans">because</span></p>',
        '<p><span lang="en" data-said="unworded">As it was.</span></p>',
        "<div data-readings='[[0, \"not known\"]]'></div>",
        "<p>gpu-1 is ready</p>",
    ],
)
def test_english_is_found(html: str) -> None:
    assert english_of(html)


@pytest.mark.parametrize(
    "html",
    [
        '<p>调度器：<span lang="en">0/3 nodes are available</span></p>',
        '<p>节点 <span translate="no">fast</span></p>',
        "<p>运行 <code>gpudash audit verify</code></p>",
        "<script>const free = true</script>",
        "<p>gpu-00001 有 3 GiB，prod/team-a，见 https://docs.example.com/read/this</p>",
        "<p>应为大小，而不是 'much' 或 “none”</p>",
        "<div data-readings='[[0, \"未知\"]]'></div>",
    ],
)
def test_what_is_not_ours_is_left_alone(html: str) -> None:
    assert english_of(html) == {}


def test_a_name_is_one_only_as_a_whole() -> None:
    assert english_of("<p>Nightly 与 far</p>", ["Nightly", "far"]) == {}
    assert english_of("<p>farther</p>", ["far"]) == {"farther": ["farther"]}


def test_each_term_has_its_reason() -> None:
    assert all(TERMS.values())
    assert all(word.isalpha() and len(word) >= 3 for word in TERMS)
