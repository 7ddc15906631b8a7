"""YAML and JSON that readers copy from the docs can be read, and the roles in them ask for no more than is said."""

from __future__ import annotations

import json
from typing import Any

import yaml

from tests.docs.reading import PAGES, ROOT, blocks
from tests.roles import shipped

LAUNCHER_ROLE = "deploy/launcher-role.yaml"


def test_every_json_block_is_json() -> None:
    found = [block for page in PAGES for block in blocks(page, "json")]
    assert found
    for block in found:
        json.loads(block)


def test_every_yaml_block_is_yaml() -> None:
    found = [block for page in PAGES for block in blocks(page, "yaml")]
    assert found
    for block in found:
        assert all(list(yaml.safe_load_all(block))), block


def test_the_launchers_role_touches_jobs_and_only_reads_the_rest() -> None:
    assert LAUNCHER_ROLE in (ROOT / "docs" / "connect-a-cluster.md").read_text()
    roles = shipped("launcher-role.yaml")
    assert {role["kind"]: writing(role) for role in roles} == {"Role": {"jobs", "leases"}, "ClusterRole": set()}
    rules = [rule for role in roles for rule in role["rules"]]
    allowed = {"leases": {"get", "create", "update"}}
    usual = {"get", "list", "create", "delete"}
    assert all(set(rule["verbs"]) <= allowed.get(rule["resources"][0], usual) for rule in rules)


def test_the_watchers_role_only_reads() -> None:
    assert [(role["kind"], writing(role)) for role in shipped("watcher-role.yaml")] == [("ClusterRole", set())]


def writing(role: dict[str, Any]) -> set[str]:
    """Resources of which the role may do more than read."""
    reading = {"get", "list", "watch"}
    return {name for rule in role["rules"] if set(rule["verbs"]) - reading for name in rule["resources"]}
