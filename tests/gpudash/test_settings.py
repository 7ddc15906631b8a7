"""The environment decides; what it leaves out has a default."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from gpudash.config import env
from gpudash.config.env import BadSetting
from tests.gpudash.variables import OIDC, PRODUCTION, SECRET, Load
from tests.processes import ROOT
from validations.floors import COLUMNS, built_in


def test_without_any_variable_it_is_local_with_sqlite_in_the_data_folder(load: Load, tmp_path: Path) -> None:
    made = load()
    assert (made["PRODUCTION"], made["DEBUG"], made["TLS"], made["BASE_PATH"]) == (False, False, False, "/")
    assert made["DATABASES"]["default"]["NAME"] == str(tmp_path / "data" / "gpudash.sqlite3")
    assert made["CELERY_BROKER_URL"] == "memory://"
    assert made["ALLOWED_HOSTS"] == ["localhost", "127.0.0.1", "[::1]", "testserver"]
    assert (made["LEASE_S"], made["LIST_PAGE"], made["HISTORY_DAYS"], made["LOG_FORMAT"]) == (10, 2000, 90, "text")


def test_production_is_strict(load: Load) -> None:
    made = load(**PRODUCTION)
    assert (made["TLS"], made["SESSION_COOKIE_SECURE"], made["CSRF_COOKIE_SECURE"], made["LOG_FORMAT"]) == (
        True,
        True,
        True,
        "json",
    )
    assert made["SECURE_HSTS_SECONDS"] > 0
    assert made["ALLOWED_HOSTS"] == ["gpu.example"]


@pytest.mark.parametrize(
    ("url", "wanted"),
    [
        ("sqlite:////tmp/a%20b.db", {"ENGINE": "django.db.backends.sqlite3", "NAME": "/tmp/a b.db"}),
        (
            "postgresql://me:p%40ss@h:5433/d?sslmode=require",
            {
                "ENGINE": "django.db.backends.postgresql",
                "NAME": "d",
                "USER": "me",
                "PASSWORD": "p@ss",
                "HOST": "h",
                "PORT": "5433",
            },
        ),
        ("postgres:///d", {"ENGINE": "django.db.backends.postgresql", "NAME": "d", "HOST": "", "PORT": ""}),
    ],
)
def test_a_database_url_is_taken_apart(load: Load, url: str, wanted: dict[str, str]) -> None:
    made = load(DATABASE_URL=url)["DATABASES"]["default"]
    assert {name: made[name] for name in wanted} == wanted
    assert made["OPTIONS"].get("sslmode", "require") == "require"


def test_through_a_pooler_nothing_belongs_to_a_session(load: Load) -> None:
    direct = load(DATABASE_URL="postgresql://me@h/d")["DATABASES"]["default"]
    pooled = load(DATABASE_URL="postgresql://me@h/d", DATABASE_POOLER="transaction")["DATABASES"]["default"]
    assert (direct["DISABLE_SERVER_SIDE_CURSORS"], pooled["DISABLE_SERVER_SIDE_CURSORS"]) == (False, True)
    assert direct["OPTIONS"].keys() - pooled["OPTIONS"].keys() == {"options"}


def test_a_password_of_its_own_is_taken_as_it_is(load: Load) -> None:
    made = load(DATABASE_URL="postgresql://me@h/d", DATABASE_PASSWORD="p@ss/w#rd?%41")["DATABASES"]["default"]
    assert (made["USER"], made["PASSWORD"], made["HOST"], made["NAME"]) == ("me", "p@ss/w#rd?%41", "h", "d")


def test_a_url_that_ends_in_its_password_says_how_to_write_it(load: Load) -> None:
    with pytest.raises(BadSetting, match=r"# as %23.*GPUDASH_DATABASE_PASSWORD"):
        load(DATABASE_URL=f"postgresql://me:#{SECRET}@h/d")


def test_no_process_needs_a_static_folder_that_it_may_write(load: Load, tmp_path: Path) -> None:
    root = tmp_path / "read-only" / "static"
    assert load(STATIC_ROOT=str(root))["STATIC_ROOT"] == root
    assert not root.parent.exists()


@pytest.mark.parametrize(("given", "path"), [("", "/"), ("/", "/"), ("gpu", "/gpu/"), ("/a/b.c/", "/a/b.c/")])
def test_a_base_path_ends_with_a_slash(load: Load, given: str, path: str) -> None:
    made = load(BASE_PATH=given)
    assert (made["BASE_PATH"], made["SESSION_COOKIE_PATH"], made["STATIC_URL"]) == (path, path, f"{path}static/")


@pytest.mark.parametrize(
    ("value", "wanted"), [("1", True), ("TRUE", True), (" on ", True), ("0", False), ("No", False), ("", False)]
)
def test_a_flag_is_read_in_all_its_spellings(load: Load, value: str, wanted: bool) -> None:
    assert load(DEBUG=value)["DEBUG"] is wanted


def test_the_secret_key_is_made_once_for_the_owner_alone(load: Load, tmp_path: Path) -> None:
    first, second = load()["SECRET_KEY"], load()["SECRET_KEY"]
    assert first == second
    assert len(first) >= 50
    file = tmp_path / "data" / "secret-key"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [path.name for path in file.parent.iterdir()] == ["secret-key"]


def test_processes_that_start_together_get_the_same_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GPUDASH_SECRET_KEY", raising=False)
    ready, keys = threading.Barrier(8), []

    def start() -> None:
        ready.wait()
        keys.append(env.secret_key("GPUDASH_SECRET_KEY", tmp_path, False))

    threads = [threading.Thread(target=start) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(keys) == 8
    assert len(set(keys)) == 1


@pytest.mark.parametrize("content", [b"", b" \n", b"\xff\xfe"])
def test_a_kept_key_that_cannot_be_used_is_named(load: Load, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "secret-key").write_bytes(content)
    with pytest.raises(BadSetting, match=r"GPUDASH_SECRET_KEY: not set, and .*secret-key"):
        load()


def test_a_command_says_which_setting_is_wrong_in_one_line(tmp_path: Path) -> None:
    variables = os.environ | {"GPUDASH_DATA_DIR": str(tmp_path), "GPUDASH_LEASE_S": "soon"}
    done = subprocess.run(
        [sys.executable, "manage.py", "check"], cwd=ROOT, env=variables, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert done.stderr == "gpudash does not start: GPUDASH_LEASE_S: must be an integer from 5 to 60\n"


BROKERS = {
    "as it is": ({"BROKER_URL": "redis://:pw@h:6379/0"}, "redis://:pw@h:6379/0"),
    "a password apart": (
        {"BROKER_URL": "redis://h:6379/0", "BROKER_PASSWORD": "p@ss/w#rd?"},
        "redis://:p%40ss%2Fw%23rd%3F@h:6379/0",
    ),
    "a user, and a password apart": (
        {"BROKER_URL": "redis://me:old@h:6379/0", "BROKER_PASSWORD": "new"},
        "redis://me:new@h:6379/0",
    ),
    "TLS is checked": (
        {"BROKER_URL": "rediss://h:6379/0"},
        "rediss://h:6379/0?ssl_cert_reqs=required&ssl_check_hostname=true",
    ),
    "TLS by an own CA": (
        {"BROKER_URL": "rediss://h:6379/0", "BROKER_CA": "/etc/hostname"},
        "rediss://h:6379/0?ssl_cert_reqs=required&ssl_check_hostname=true&ssl_ca_certs=%2Fetc%2Fhostname",
    ),
    "TLS that the URL says not to check": (
        {"BROKER_URL": "rediss://h:6379/0?ssl_cert_reqs=none&ssl_check_hostname=false"},
        "rediss://h:6379/0?ssl_cert_reqs=none&ssl_check_hostname=false",
    ),
}


@pytest.mark.parametrize("name", BROKERS)
def test_the_broker_gets_its_password_and_is_checked(load: Load, name: str) -> None:
    given, wanted = BROKERS[name]
    assert load(**given)["CELERY_BROKER_URL"] == wanted


def test_without_local_accounts_no_backend_takes_a_password(load: Load) -> None:
    assert "django.contrib.auth.backends.ModelBackend" in load(**OIDC)["AUTHENTICATION_BACKENDS"]
    made = load(**OIDC, LOCAL_ACCOUNTS="false")
    assert made["AUTHENTICATION_BACKENDS"] == ["accounts.backend.ExternalBackend", "accounts.backend.ClusterBackend"]
    assert made["OIDC"].url == "https://dex.example.com"


def test_groups_may_have_any_name(load: Load) -> None:
    text = "cn=gpu,dc=example=operator: prod, lab ;\n/company/ai team=viewer:*/ai\n"
    found = load(**OIDC | {"GROUP_ROLES": text})["GROUP_ROLES"]
    assert found == {"cn=gpu,dc=example": ("operator", ("prod", "lab")), "/company/ai team": ("viewer", ("*/ai",))}


def test_a_file_of_floors_extends_and_replaces_the_built_in_ones(load: Load, tmp_path: Path) -> None:
    path = tmp_path / "floors.csv"
    line = "nccl-allreduce,bus_bandwidth_max,NVIDIA H100 80GB HBM3,8,16G,,450,GB/s,peak,our racks,acceptance 7,2026-06"
    path.write_text(f"{','.join(COLUMNS)}\n{line}\n{line.replace('HBM3', 'NVL')}\n")
    assert len(load()["FLOORS"]) == len(built_in())
    made = load(FLOORS_FILE=str(path))["FLOORS"]
    assert len(made) == len(built_in()) + 1
    assert [(one.least, one.own) for one in made[:2]] == [(450.0, True), (450.0, True)]
