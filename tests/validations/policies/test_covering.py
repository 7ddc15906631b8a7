"""A pass with options that cover those of the policy counts: a long diagnostic says what a short one does, and not the other way."""

from __future__ import annotations

from itertools import product

import pytest

from inventory.models import Card, Cluster
from runtime.clock import database_now
from tests.factories import make_node
from tests.pages.validations.rows import make_run
from validations.models import PolicyCard, Run
from validations.options_key import covering_keys, options_key
from validations.policies import manage
from validations.policies.evaluate import evaluate
from validations.policies.manage import PolicyDraft
from validations.suites import registry

DCGM, ADD = registry()["dcgm-diag"], registry()["cuda-vectoradd"]


def test_the_keys_are_those_of_the_options_and_of_all_that_cover_them() -> None:
    keys = [options_key(DCGM, {"level": level}) for level in (1, 2, 3)]
    assert [covering_keys(DCGM, {"level": level}) for level in (1, 2, 3)] == [
        tuple(keys),
        tuple(keys[1:]),
        tuple(keys[2:]),
    ]
    assert covering_keys(DCGM, {}) == tuple(keys)


def test_other_options_are_not_covered_with_it() -> None:
    two = [options_key(DCGM, {"level": level, "cards": 2}) for level in (2, 3)]
    assert covering_keys(DCGM, {"level": 2, "cards": 2}) == tuple(two)
    assert not set(two) & set(covering_keys(DCGM, {"level": 1}))


def test_a_suite_without_such_an_option_has_one_key_and_wrong_options_have_none() -> None:
    assert covering_keys(ADD, {}) == (options_key(ADD, {}),)
    assert covering_keys(ADD, {"no-such": 1}) == ()


def test_a_number_of_values_that_cover_is_small() -> None:
    """Each of them is a value of one condition in SQL."""
    for suite in registry().values():
        covering = [one for one in suite.options if one.covers_less]
        assert all(one.kind == "number" and one.maximum - one.minimum < 10 for one in covering)
        assert len(covering_keys(suite, {})) < 20


@pytest.mark.parametrize(("wanted", "ran"), list(product((1, 2, 3), repeat=2)))
def test_a_card_is_valid_by_a_pass_of_at_least_the_level(cluster: Cluster, wanted: int, ran: int) -> None:
    make_node(cluster, "gpu-1", "nvidia", 1, loads=(0.0,))
    run = make_run(cluster, suite="dcgm-diag", card=Card.objects.get(), driver="")
    Run.objects.filter(pk=run.pk).update(
        options_key=options_key(DCGM, {"level": ran}),
        level="checked" if ran > 1 else "detected",
        image=DCGM.settle({})["image"],
        parser_version=DCGM.parser_version,
    )
    policy = manage.create(
        PolicyDraft(
            name="a", suite="dcgm-diag", options={"level": wanted}, level="checked" if wanted > 1 else "detected"
        )
    )
    evaluate(policy, database_now())
    assert PolicyCard.objects.get().state == ("valid" if ran >= wanted else "due")
