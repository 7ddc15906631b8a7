"""What apps above add to the inventory: findings have one entry, and a version is counted once."""

from __future__ import annotations

import msgspec
import pytest

from inventory import data_version
from inventory.catalogue import CATALOGUE
from inventory.extension import EXTENSIONS, register
from runtime import cached
from validations.declared import FINDINGS, POD_LABELS


def test_validations_are_registered_at_the_start() -> None:
    assert EXTENSIONS["validations"].pod_labels == POD_LABELS
    assert {code: CATALOGUE[code] for code in FINDINGS} == FINDINGS


def test_a_finding_that_exists_is_refused_and_nothing_changes() -> None:
    before = dict(CATALOGUE)
    second = msgspec.structs.replace(EXTENSIONS["validations"], name="second")
    with pytest.raises(ValueError, match="findings of second exist already: launcher-copy"):
        register(second)
    assert "second" not in EXTENSIONS
    assert before == CATALOGUE


def test_a_version_that_is_added_again_is_counted_once() -> None:
    before = list(cached._versions)
    assert data_version.version in before
    cached.add_version(data_version.version)
    assert cached._versions == before
