"""What tests share: a small fleet, and clients of the cast."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.test import Client, override_settings
from django.utils import translation
from hypothesis import settings

from accounts.roles import Role
from gpudash.middleware.request_limit import buckets
from inventory.models import Cluster
from tests.cast import bearer, make_token, make_user, signed_in
from tests.database import committed_database, django_db_modify_db_settings, migrated_file, rows_of_module
from tests.factories import make_cluster, make_fleet

__all__ = ["committed_database", "django_db_modify_db_settings", "migrated_file", "rows_of_module"]


# On a machine that does other work too, an example may take long: that is no failure.
settings.register_profile("gpudash", deadline=None)
settings.load_profile("gpudash")

# Compiled modules are kept whatever the environment says: else each worker, and each process that a test starts, compiles all anew.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


def pytest_collection_finish() -> None:
    """What was imported and collected stays to the end: the collector need not walk through it again and again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 20, 50)


_OF_THE_DATABASE = {"db", "transactional_db", "committed_database", "rows_of_module"}
_OTHER_TIERS = ("sweep", "cluster", "browser", "team", "django_db")
#: They start programs, look through all files, or play the simulated fleet of the demo for hours of its time.
NOT_FAST = (
    *(f"tests/{name}/" for name in ("audit", "deploy", "fleetsim", "gpudash", "soak", "tools", "wheel")),
    *(f"tests/inventory/{name}.py" for name in ("collect/test_forged", "commands/test_sync_command")),
    *(f"tests/pages/{name}.py" for name in ("test_chinese", "test_chinese_texts")),
    *(f"tests/{name}.py" for name in ("accounts/test_probes", "validations/suites/test_one_module")),
)


#: Folder → the tier of all its tests.
TIER_OF = {
    "browser": "browser",
    **dict.fromkeys(("cluster", "cluster_chart", "cluster_quarantine", "cluster_runs"), "cluster"),
    "team": "team",
}


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """The folder of a tier that is left out is not even read: its imports are some of the heaviest."""
    tier = TIER_OF.get(collection_path.name) if collection_path.parent == Path(__file__).parent else None
    return True if tier and f"not {tier}" in config.option.markexpr else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What needs no database is fast (`make test-fast`)."""
    for item in items:
        needs_database = _OF_THE_DATABASE & set(getattr(item, "fixturenames", ()))
        other = any(item.get_closest_marker(name) for name in _OTHER_TIERS)
        if not needs_database and not other and not item.nodeid.startswith(NOT_FAST):
            item.add_marker("fast")


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
