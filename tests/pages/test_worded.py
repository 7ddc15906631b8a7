"""Texts of ours and of others on a page: what is whose, in both languages, and nothing of either is HTML."""

from __future__ import annotations

import pytest
from django.template import Context, Template
from django.utils import translation
from django.utils.safestring import SafeString

from pages.frame.labels import pool_words
from pages.frame.worded import quoted, told, worded, worded_html
from wording.said import quote, sentence, stored

SAID = sentence("the response was interrupted: {why}", why="Connection reset by <peer>")
NAMED = sentence("Node {node} is not ready.", node="gpu-1")


@pytest.fixture
def in_chinese() -> object:
    with translation.override("zh-hans"):
        yield


def shown(source: str, **values: object) -> str:
    return Template(source).render(Context(values))


def test_in_english_it_is_the_text_and_nothing_is_marked() -> None:
    assert worded_html(SAID) == "the response was interrupted: Connection reset by &lt;peer&gt;"
    assert quoted("0/3 nodes") == "0/3 nodes"
    assert shown("{{ one|worded:10 }}", one=NAMED) == "Node gpu-…"


@pytest.mark.usefixtures("in_chinese")
def test_what_another_system_said_is_marked_as_english_and_a_name_as_a_name() -> None:
    assert worded_html(SAID) == '响应中断：<span lang="en">Connection reset by &lt;peer&gt;</span>'
    assert '<span translate="no">gpu-1</span>' in worded_html(NAMED)
    assert quoted("back-off 5m0s") == '<span lang="en">back-off 5m0s</span>'
    assert (
        worded_html(sentence("the response was interrupted: {why}", why=sentence("received an empty response")))
        == "响应中断：收到空响应"
    )


@pytest.mark.usefixtures("in_chinese")
def test_in_an_attribute_it_stands_in_quotation_marks() -> None:
    assert worded(SAID) == "响应中断：“Connection reset by <peer>”"


@pytest.mark.usefixtures("in_chinese")
def test_a_text_that_was_kept_without_its_form_is_known_as_such() -> None:
    assert worded_html("As it was.") == '<span lang="en" data-said="unworded">As it was.</span>'
    assert worded_html(told("As it was.", None)) == '<span lang="en">As it was.</span>'
    assert worded_html(told(str(SAID), stored(SAID))) == worded_html(SAID)
    assert told("", None) == ""


@pytest.mark.usefixtures("in_chinese")
def test_what_is_html_already_stays_it() -> None:
    made = worded_html(SAID)
    assert worded_html(made) == quoted(made) == made
    assert isinstance(made, SafeString)


@pytest.mark.usefixtures("in_chinese")
def test_a_text_that_is_cut_keeps_its_elements_whole() -> None:
    cut = shown("{{ one|worded:14 }}", one=SAID)
    assert cut.count("<span") == cut.count("</span>") == 1
    assert cut.startswith('响应中断：<span lang="en">Connec')


@pytest.mark.usefixtures("in_chinese")
def test_a_command_in_a_sentence_is_code() -> None:
    assert "<code>gpudash cluster take-over <span" in worded_html(
        sentence(
            "{cause} This database launches, deletes and ends nothing in the cluster. If the other database is permanently "
            "removed, run `gpudash cluster take-over {name}`.",
            cause=quote("x"),
            name="prod",
        )
    )


def test_a_pool_is_called_by_names_and_by_what_is_not_known_of_it() -> None:
    assert pool_words("gpushare · model not known") == "gpushare · model unknown"
    with translation.override("zh-hans"):
        assert pool_words("gpushare · model not known") == "gpushare · 型号未知"
        assert (
            shown("{{ pool|pool_words }}", pool="not understood · T4")
            == '不支持的资源 · <span translate="no">T4</span>'
        )


def test_tables_have_the_short_name_of_a_model_and_the_whole_one_as_its_title() -> None:
    short = '<span translate="no" title="NVIDIA-A100-SXM4-80GB">A100 SXM 80 GB</span>'
    assert shown("{{ model|model_words }}", model="NVIDIA-A100-SXM4-80GB") == short
    assert shown("{{ model|model_words }}", model="L40S") == '<span translate="no">L40S</span>'
    pool = shown("{{ pool|pool_words }}", pool="kai + nvidia · NVIDIA-A100-SXM4-80GB")
    assert pool == f'<span translate="no">kai + nvidia</span> · {short}'
