"""Names of measurements, facts and nodes in words: all that suites have ever said is among what is translated."""

from __future__ import annotations

from django.utils import translation

from inventory.models import Node
from pages.words.names import FACTS, MEASUREMENTS, OF_NODES, OPTIONS, option, plain, plain_html, value_html
from tests.validations.suites import golden
from validations.suites import registry
from validations.suites.engine.base import read_log


def test_what_recorded_logs_measure_and_say_is_among_the_words() -> None:
    parsed = [case.suite.parse(read_log(case.raw), case.outcome) for case in golden.cases()]
    assert {name.replace("_", " ") for one in parsed for name in one.measurements} == set(MEASUREMENTS)
    assert {name.replace("_", " ") for one in parsed for name in one.facts} == set(FACTS)


def test_options_of_suites_are_among_them_and_keep_their_names_in_english() -> None:
    names = {one.name for suite in registry().values() for one in suite.options}
    assert {name.replace("_", " ") for name in names} == set(OPTIONS)
    assert {option(name) for name in names} == names
    with translation.override("zh-hans"):
        assert (option("run_as_user"), option("of_tomorrow")) == ("运行用户", "of_tomorrow")


def test_what_a_run_keeps_of_its_node_is_among_them() -> None:
    columns = {one.name.replace("_", " ") for one in Node._meta.get_fields()}
    assert {"os", "os image", "kernel", "kubelet", "runtime", "instance type", "zone"} <= columns & set(OF_NODES)


def test_they_are_said_in_the_language_of_the_reader() -> None:
    def told() -> tuple[str, str, str]:
        return plain("gpu_first_evaluate"), plain_html("os_image"), value_html("cordoned", "no")

    assert told() == ("gpu first evaluate", "os image", "no")
    with translation.override("zh-hans"):
        assert told() == ("GPU 首次评估", "系统映像", "否")


def test_a_name_that_is_not_known_stays_as_it_is() -> None:
    assert plain_html("a_new_thing") == '<span translate="no">a new thing</span>'
    assert value_html("gpu_name", "<T4>") == '<span translate="no">&lt;T4&gt;</span>'
