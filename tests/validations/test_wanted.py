"""`cluster check` asks for what the launcher needs, and the shipped Role grants exactly that."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from inventory import clusters
from inventory.models import Cluster
from tests.roles import shipped
from validations.wanted import ROLE, wanted


def checked(cluster: Cluster) -> list[str]:
    out = StringIO()
    call_command("cluster", "check", cluster.name, stdout=out)
    return out.getvalue().splitlines()


def test_what_the_launcher_wants_is_asked_for_once_and_after_what_the_inventory_wants() -> None:
    assert clusters.wanted() == [*clusters.READER, *wanted()]


def test_the_shipped_role_grants_what_is_asked_for_and_no_more() -> None:
    roles = shipped(Path(ROLE).name)
    granted = {
        (verb, group, resource, role["metadata"].get("namespace", ""))
        for role in roles
        for rule in role["rules"]
        for verb in rule["verbs"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
    }
    assert {(one.verb, one.group, one.resource, one.namespace) for one in wanted()} == granted


def test_nothing_of_it_is_needed_to_mirror_a_cluster() -> None:
    assert all(one.optional and one.role == ROLE for one in wanted())


def test_the_check_names_the_namespace_of_the_settings(demo_cluster: Cluster, settings: Any) -> None:
    settings.VALIDATION_NAMESPACE = "gpu-tests"
    lines = checked(demo_cluster)
    assert "  allowed: create jobs (needed for validations (namespace gpu-tests), optional)" in lines
    assert "  allowed: get pods/log (needed for validations (namespace gpu-tests), optional)" in lines


def test_the_page_and_rest_keep_the_answers(demo_cluster: Cluster) -> None:
    checked(demo_cluster)
    demo_cluster.refresh_from_db()
    kept = {(row["verb"], row["resource"]): row for row in demo_cluster.permissions if row["optional"]}
    assert set(kept) >= {(one.verb, one.full_resource) for one in wanted()}
    assert kept["create", "jobs.batch"]["optional"] is True


@pytest.mark.parametrize(("group", "resource", "name"), [("batch", "jobs", "jobs.batch"), ("", "pods/log", "pods/log")])
def test_resources_are_named_as_kubectl_names_them(group: str, resource: str, name: str) -> None:
    (one,) = {one.full_resource for one in wanted() if (one.group, one.resource) == (group, resource)}
    assert one == name
