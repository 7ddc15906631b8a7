"""What cannot work stops the start with its name and without repeating a secret."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpudash.config.env import BadSetting
from tests.gpudash.variables import KEY, OIDC, PRODUCTION, PROXY, SECRET, Load
from validations.floors import COLUMNS

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
    **{
        f"as an origin {value}": (
            {"CORS_ORIGINS": f"https://a.example,{value}"},
            "GPUDASH_CORS_ORIGINS: must be origins",
        )
        for value in (
            *("*", "null", "headlamp.example.com", "file://", "https://*.example.com", "https://a.example/"),
            *("https://a.example/x", "https://A.example", "https://a.example:443", "http://a.example:80"),
            *("https://me@a.example", "https://a.example:0", "https://a.example?x", "javascript:alert(1)"),
        )
    },
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
    ("content", "said"),
    [
        (None, "cannot read the file"),
        (b"\xff\xfe", "must be UTF-8"),
        (b"a,b\n", "line 1: must be suite,measurement"),
        (",".join(COLUMNS).encode() + b"\n,,,,,,,,,,,\nx,y,z,,,,fast,GB/s,peak,m,s,2026-06", "line 3, field least"),
    ],
)
def test_a_wrong_file_of_floors_stops_the_start(load: Load, tmp_path: Path, content: bytes | None, said: str) -> None:
    path = tmp_path / "floors.csv"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(BadSetting) as told:
        load(FLOORS_FILE=str(path))
    assert str(told.value).startswith("GPUDASH_FLOORS_FILE: ")
    assert said in str(told.value)
    assert str(path) in str(told.value)
