"""What tests share: a small fleet, and clients of the cast."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator

import pytest
from django.test import Client, override_settings
from django.utils import translation

from accounts.roles import Role
from gpudash.middleware.request_limit import buckets
from inventory.models import Cluster
from tests.cast import bearer, make_token, make_user, signed_in
from tests.database import committed_database, django_db_modify_db_settings, migrated_file
from tests.factories import make_cluster, make_fleet

__all__ = ["committed_database", "django_db_modify_db_settings", "migrated_file"]


# Compiled modules are kept whatever the environment says: else each worker, and each process that a test starts, compiles all anew.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


def pytest_collection_finish() -> None:
    """What was imported and collected stays to the end: the collector need not walk through it again and again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 20, 50)


@pytest.fixture(autouse=True)
def _no_language() -> None:
    """A request in Chinese leaves its language to the thread; no test inherits it from another."""
    translation.deactivate()


@pytest.fixture(autouse=True)
def _requests_of_one_test_only() -> None:
    """All tests ask from one address, and no test uses another's share up."""
    buckets.clear()


@pytest.fixture(scope="session", autouse=True)
def _fit_for_tests(django_test_environment: None) -> Iterator[None]:
    """WhiteNoise would warn that no static files were collected; hashing passwords well takes most of a second each.

    Tests change rows as no watcher does: what is shared between requests (tests/pages/test_shared.py) would be old.
    Once for all tests: set for each, they were a tenth of a small test's time.
    """
    with override_settings(
        SHARED_LOOK_S=0,
        WHITENOISE_AUTOREFRESH=True,
        PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
    ):
        yield


@pytest.fixture
def cluster(db: None) -> Cluster:
    """An empty cluster in sync."""
    return make_cluster("prod")


@pytest.fixture
def fleet(cluster: Cluster) -> Cluster:
    """A cluster with one node of each trait."""
    make_fleet(cluster, nodes=7)
    return cluster


@pytest.fixture
def viewer(db: None) -> Client:
    """Signed in with the role viewer."""
    return signed_in(make_user("vera", Role.VIEWER))


@pytest.fixture
def admin(db: None) -> Client:
    """Signed in with the role admin."""
    return signed_in(make_user("ada", Role.ADMIN))


@pytest.fixture
def api(db: None) -> Client:
    """A program with a viewer's token."""
    return bearer(make_token(make_user("robot", Role.VIEWER)))
