"""The environment decides; what cannot work stops the start with its name and without repeating a secret."""

from __future__ import annotations

import os
import runpy
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gpudash.config import env
from gpudash.config.env import BadSetting
from tests.processes import ROOT

SECRET = "s3cr3t-v4lue"
KEY = "k" * 50
Load = Callable[..., dict[str, Any]]


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Load:
    """The settings module as it would be with these variables (GPUDASH_ left away), in a data folder of its own."""

    def run(**variables: str) -> dict[str, Any]:
        for name in [name for name in os.environ if name.startswith("GPUDASH_")]:
            monkeypatch.delenv(name)
        for name, value in (
            {"DATA_DIR": str(tmp_path / "data"), "STATIC_ROOT": str(tmp_path / "static")} | variables
        ).items():
            monkeypatch.setenv(f"GPUDASH_{name}", value)
        return runpy.run_path(str(ROOT / "gpudash" / "settings.py"))

    return run


PRODUCTION = {
    "ENV": "production",
    "SECRET_KEY": KEY,
    "ALLOWED_HOSTS": "gpu.example",
    "DATABASE_URL": "postgresql://me@h/d",
    "BROKER_URL": "redis://h:6379/0",
}


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


OIDC = {
    "OIDC_ISSUER": "https://dex.example.com/",
    "OIDC_CLIENT_ID": "gpudash",
    "OIDC_CLIENT_SECRET": SECRET,
    "GROUP_ROLES": "admins=admin",
}
PROXY = {
    "PROXY_USER_HEADER": "X-Auth-Request-User",
    "PROXY_GROUPS_HEADER": "X-Auth-Request-Groups",
    "TRUSTED_PROXY": "10.0.0.1",
    "GROUP_ROLES": "admins=admin",
}
CANNOT_WORK: dict[str, tuple[dict[str, str], str]] = {
    "no client": (OIDC | {"OIDC_CLIENT_ID": ""}, "GPUDASH_OIDC_CLIENT_ID: must be set"),
    "no secret of the client": (OIDC | {"OIDC_CLIENT_SECRET": ""}, "GPUDASH_OIDC_CLIENT_SECRET: must be set"),
    "a client without an issuer": (OIDC | {"OIDC_ISSUER": ""}, "GPUDASH_OIDC_CLIENT_ID: requires GPUDASH_OIDC_ISSUER"),
    "an issuer that is no address": (
        OIDC | {"OIDC_ISSUER": "dex.example.com"},
        "GPUDASH_OIDC_ISSUER: must be the address",
    ),
    "an issuer with a password": (
        OIDC | {"OIDC_ISSUER": f"https://me:{SECRET}@dex.example.com"},
        "GPUDASH_OIDC_ISSUER: must be the address",
    ),
    "an issuer in the clear": (
        PRODUCTION | OIDC | {"OIDC_ISSUER": "http://dex.example.com"},
        "GPUDASH_OIDC_ISSUER: must be https://",
    ),
    "scopes without openid": (OIDC | {"OIDC_SCOPES": "profile"}, "GPUDASH_OIDC_SCOPES: must contain the scope openid"),
    "an issuer and no groups": (OIDC | {"GROUP_ROLES": ""}, "GPUDASH_GROUP_ROLES: must be set"),
    "a group without a role": (OIDC | {"GROUP_ROLES": "admins"}, "GPUDASH_GROUP_ROLES: invalid entry 'admins'"),
    "a role that is none": (OIDC | {"GROUP_ROLES": "a=root"}, "GPUDASH_GROUP_ROLES: invalid role 'root'"),
    "a group twice": (OIDC | {"GROUP_ROLES": "a=viewer;a=admin"}, "GPUDASH_GROUP_ROLES: group 'a' is listed twice"),
    "a place that is none": (OIDC | {"GROUP_ROLES": "a=viewer:*"}, "GPUDASH_GROUP_ROLES: invalid scope '*'"),
    "no place": (OIDC | {"GROUP_ROLES": "a=viewer:"}, "GPUDASH_GROUP_ROLES: 'viewer:' has no scope"),
    "an admin for a part": (OIDC | {"GROUP_ROLES": "a=admin:prod"}, "GPUDASH_GROUP_ROLES: 'admin:prod': for this"),
    "an operator of a namespace": (
        OIDC | {"GROUP_ROLES": "a=operator:prod/x"},
        "GPUDASH_GROUP_ROLES: 'operator:prod/x': for this",
    ),
    "a header of anybody": (
        PROXY | {"TRUSTED_PROXY": ""},
        "GPUDASH_PROXY_USER_HEADER: requires the address of the proxy",
    ),
    "a header of everybody": (
        PROXY | {"TRUSTED_PROXY": "*"},
        "GPUDASH_PROXY_USER_HEADER: requires the address of the proxy",
    ),
    "a header that is none": (
        PROXY | {"PROXY_USER_HEADER": "X User"},
        "GPUDASH_PROXY_USER_HEADER: must be the name of a header",
    ),
    "a name and no groups": (PROXY | {"PROXY_GROUPS_HEADER": ""}, "GPUDASH_PROXY_GROUPS_HEADER: must also be set"),
    "no way in": ({"LOCAL_ACCOUNTS": "false"}, "GPUDASH_LOCAL_ACCOUNTS: false requires"),
    "an image": (
        {"ALLOWED_IMAGES": "suites,http://nvcr.io/a"},
        "GPUDASH_ALLOWED_IMAGES: invalid image 'http://nvcr.io/a'",
    ),
    "any image": ({"ALLOWED_IMAGES": "*"}, "GPUDASH_ALLOWED_IMAGES: invalid image '*'"),
    "a pull secret": (
        {"PULL_SECRETS": "registry,My Secret"},
        "GPUDASH_PULL_SECRETS: must be names of Kubernetes objects",
    ),
    "a folder": ({"CREDENTIAL_FOLDERS": "/etc/gpudash,lab"}, "GPUDASH_CREDENTIAL_FOLDERS: must be absolute paths"),
    "a taint": ({"TOLERATED_TAINTS": "nvidia.com/gpu,*"}, "GPUDASH_TOLERATED_TAINTS: must be taints"),
    "env": ({"ENV": "staging"}, "GPUDASH_ENV: must be one of: local, production"),
    "no key in production": ({"ENV": "production", "ALLOWED_HOSTS": "a"}, "GPUDASH_SECRET_KEY: must be set"),
    "a short key in production": (PRODUCTION | {"SECRET_KEY": SECRET}, "GPUDASH_SECRET_KEY: must have at least 50"),
    "no hosts in production": ({"ENV": "production", "SECRET_KEY": KEY}, "GPUDASH_ALLOWED_HOSTS: must list"),
    "blank hosts in production": (PRODUCTION | {"ALLOWED_HOSTS": " , "}, "GPUDASH_ALLOWED_HOSTS: must list"),
    "no database in production": (PRODUCTION | {"DATABASE_URL": ""}, "GPUDASH_DATABASE_URL: must be set"),
    "no broker in production": (PRODUCTION | {"BROKER_URL": ""}, "GPUDASH_BROKER_URL: must be set"),
    "debug in production": (PRODUCTION | {"DEBUG": "1"}, "GPUDASH_DEBUG: must not be on"),
    "a flag": ({"DEBUG": "maybe"}, "GPUDASH_DEBUG: must be true or false"),
    "TLS": ({"TLS": "2"}, "GPUDASH_TLS: must be true or false"),
    "behind a proxy": ({"BEHIND_PROXY": SECRET}, "GPUDASH_BEHIND_PROXY: must be true or false"),
    "proxies without a proxy": ({"PROXY_HOPS": "1"}, "GPUDASH_PROXY_HOPS: requires GPUDASH_BEHIND_PROXY=true"),
    "too many password checks": ({"PASSWORD_CHECKS": "65"}, "GPUDASH_PASSWORD_CHECKS: must be an integer from 1 to 64"),
    "a number that is text": ({"LIST_PAGE": "many"}, "GPUDASH_LIST_PAGE: must be an integer from 10 to 5000"),
    "a number that is too small": ({"LEASE_S": "4"}, "GPUDASH_LEASE_S: must be an integer from 5 to 60"),
    "a number that is too large": ({"LEASE_S": "61"}, "GPUDASH_LEASE_S"),
    "a number with a sign": ({"LEASE_S": "-10"}, "GPUDASH_LEASE_S"),
    "a fraction": ({"LEASE_S": "10.5"}, "GPUDASH_LEASE_S"),
    "a number in other digits": ({"LEASE_S": "１０"}, "GPUDASH_LEASE_S"),
    "a number whose beginning would do": ({"LIST_PAGE": "000000000500999"}, "GPUDASH_LIST_PAGE"),
    "a number of 5000 digits": ({"HISTORY_DAYS": "9" * 5000}, "GPUDASH_HISTORY_DAYS"),
    "a data folder that is a file": ({"DATA_DIR": "/dev/null"}, "GPUDASH_DATA_DIR: cannot create the folder /dev/null"),
    "a data folder below a file": ({"DATA_DIR": "/dev/null/x"}, "GPUDASH_DATA_DIR: cannot create the folder"),
    "the home of nobody": ({"DATA_DIR": "~no-such-user-here/x"}, "GPUDASH_DATA_DIR: cannot create the folder"),
    "a database of another kind": (
        {"DATABASE_URL": f"mysql://me:{SECRET}@h/d"},
        "GPUDASH_DATABASE_URL: must be sqlite",
    ),
    "a database that is no URL": (
        {"DATABASE_URL": f"postgresql://me:{SECRET}@[h/d"},
        "GPUDASH_DATABASE_URL: not a URL",
    ),
    "a database port": ({"DATABASE_URL": f"postgresql://me:{SECRET}@h:x/d"}, "GPUDASH_DATABASE_URL: not a URL"),
    **{
        f"a password with {sign} in the {which} URL": (
            {f"{which}_URL": f"{scheme}://me:1{sign}{SECRET}@h/0"},
            f"GPUDASH_{which}_URL: ",
        )
        for sign in "/#?"
        for which, scheme in (("DATABASE", "postgresql"), ("BROKER", "redis"))
    },
    "a path behind the database": (
        {"DATABASE_URL": f"postgresql://me:{SECRET}@h/d/e"},
        "GPUDASH_DATABASE_URL: the URL",
    ),
    "a parameter that is none": ({"DATABASE_URL": f"postgresql://h/d?{SECRET}@x=1"}, "GPUDASH_DATABASE_URL: the URL"),
    "a settings file that is not there": ({"ENV_FILE": "/no/such/file"}, "GPUDASH_ENV_FILE: the file /no/such/file"),
    "a database without name": (
        {"DATABASE_URL": f"postgresql://me:{SECRET}@h"},
        "GPUDASH_DATABASE_URL: the URL has no",
    ),
    "a pooler of another kind": ({"DATABASE_POOLER": "session"}, "GPUDASH_DATABASE_POOLER: must be one of"),
    "a pooler before SQLite": (
        {"DATABASE_POOLER": "transaction"},
        "GPUDASH_DATABASE_POOLER: must be empty with SQLite",
    ),
    "sqlite with a host": ({"DATABASE_URL": "sqlite://file.db"}, "GPUDASH_DATABASE_URL: must be sqlite:////absolute"),
    "sqlite without a path": ({"DATABASE_URL": "sqlite:///"}, "GPUDASH_DATABASE_URL: must be sqlite:////absolute"),
    "a broker of another kind": ({"BROKER_URL": f"http://me:{SECRET}@h"}, "GPUDASH_BROKER_URL: must be redis://"),
    "a broker's password without a broker": ({"BROKER_PASSWORD": SECRET}, "GPUDASH_BROKER_PASSWORD: requires a broker"),
    "a broker's CA without TLS": (
        {"BROKER_URL": "redis://h:6379/0", "BROKER_CA": "/etc/hostname"},
        "GPUDASH_BROKER_CA: requires TLS",
    ),
    "a broker's CA that is not there": (
        {"BROKER_URL": f"rediss://:{SECRET}@h:6379/0", "BROKER_CA": "/nowhere/ca.crt"},
        "GPUDASH_BROKER_CA: cannot read the file /nowhere/ca.crt",
    ),
    "a broker that is no URL": ({"BROKER_URL": f"redis://:{SECRET}@[h"}, "GPUDASH_BROKER_URL: invalid URL"),
    "a path that climbs": ({"BASE_PATH": "/a/../b"}, "GPUDASH_BASE_PATH: must be a path such as /gpudash"),
    "a path with an empty part": ({"BASE_PATH": "a//b"}, "GPUDASH_BASE_PATH"),
    "a path with a query": ({"BASE_PATH": "/a?b"}, "GPUDASH_BASE_PATH"),
    "a path with a line break": ({"BASE_PATH": "/a\nb"}, "GPUDASH_BASE_PATH"),
    "a time zone": ({"TIME_ZONE": "Mars/Olympus"}, "GPUDASH_TIME_ZONE: must be a time zone"),
    "a time zone that is a path": ({"TIME_ZONE": "../../etc/passwd"}, "GPUDASH_TIME_ZONE"),
    "a log format": ({"LOG_FORMAT": "xml"}, "GPUDASH_LOG_FORMAT: must be one of: json, text"),
    "a log level": ({"LOG_LEVEL": "LOUD"}, "GPUDASH_LOG_LEVEL: must be one of: DEBUG"),
}


@pytest.mark.parametrize(("variables", "said"), CANNOT_WORK.values(), ids=CANNOT_WORK.keys())
def test_a_value_that_cannot_work_stops_the_start_with_its_name(
    load: Load, variables: dict[str, str], said: str
) -> None:
    with pytest.raises(BadSetting) as caught:
        load(**variables)
    assert str(caught.value).startswith(said)
    assert SECRET not in repr(caught.value)


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
