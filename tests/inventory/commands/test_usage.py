"""`cluster set`, `list` and `check` for the exporters of a cluster."""

from __future__ import annotations

from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from inventory.collect import source_lines
from inventory.models import Cluster, UsageSource
from tests.prometheus import Prometheus, prometheus
from tests.services import Missing, or_skip


@pytest.fixture(scope="module")
def scraped() -> Iterator[Prometheus]:
    try:
        with prometheus({"gpu-1": {}}) as server:
            yield server
    except Missing as missing:
        or_skip(missing)


def said(*words: str) -> str:
    out = StringIO()
    call_command("cluster", *words, stdout=out)
    return out.getvalue()


def test_a_prometheus_is_set_changed_and_taken_away(cluster: Cluster, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("secret-token")
    told_then = said(
        "set",
        "prod",
        "--prometheus=http://prometheus:9090/api/v1",
        '--prometheus-match={cluster="prod"}',
        "--prometheus-header=X-Scope-OrgID: team-a",
        f"--prometheus-token-file={tmp_path / 'token'}",
    )
    assert told_then == 'prod: exporters are read from http://prometheus:9090 where cluster="prod", every 60 s\n'
    source = UsageSource.objects.get()
    assert (source.headers, source.token_file) == ({"X-Scope-OrgID": "team-a"}, str(tmp_path / "token"))
    said("set", "prod", "--prometheus=http://other:9090", "--prometheus-every=30")
    source.refresh_from_db()
    assert (source.address, source.every_s, source.token_file, source.matchers) == ("http://other:9090", 30, "", "")
    assert said("set", "prod", "--no-usage") == "prod: exporters are no longer read\n"
    assert not UsageSource.objects.exists()


def test_pods_are_read_directly_when_that_is_said(cluster: Cluster) -> None:
    said("set", "prod", "--prometheus=http://prometheus:9090")
    answer = said("set", "prod", "--exporters-directly", "--usage-every=90")
    assert answer == "prod: exporter pods are read through the API server, every 90 s (deploy/exporters-role.yaml)\n"
    source = UsageSource.objects.get()
    assert (source.way, source.address, source.every_s) == ("direct", "", 90)
    assert "exporters, from pods, through the API server: waiting for the first read" in said("list")


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ((), "Nothing to set"),
        (("--exporters-directly", "--prometheus=http://p:9090"), "not both"),
        (("--exporters-directly", "--usage-every=15"), "must be 60 to 3600 s"),
        (("--prometheus=prometheus:9090",), "must be an address"),
        (("--prometheus=http://user:hidden@p",), "Put a token into a file"),
        (("--prometheus-match=a=1",), "--prometheus-match requires --prometheus URL"),
        (("--prometheus=http://p", "--prometheus-match=cluster=prod"), "must be a list of label matchers"),
        (("--prometheus=http://p", '--prometheus-match=a="b"} or up{c="d"'), "must be a list of label matchers"),
        (("--prometheus=http://p", "--prometheus-header=no colon"), "Name: value"),
        (("--prometheus=http://p", "--prometheus-token-file=/nowhere"), "token file /nowhere not found"),
        (("--prometheus=http://p", "--prometheus-ca-file=/nowhere"), "certificate file /nowhere not found"),
        (("--prometheus=http://p", "--prometheus-every=1"), "must be 15 to 3600 s"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_is_written(cluster: Cluster, words: tuple[str, ...], why: str) -> None:
    with pytest.raises(CommandError) as caught:
        said("set", "prod", *words)
    assert why in str(caught.value)
    assert "hidden" not in str(caught.value)
    assert not UsageSource.objects.exists()


def test_list_and_check_say_what_was_found(scraped: Prometheus, cluster: Cluster) -> None:
    scraped.show("gpu-1", 'DCGM_FI_DEV_FB_USED{gpu="0",UUID="GPU-1",Hostname="gpu-1"} 100\n')
    said("set", "prod", f"--prometheus={scraped.url}")
    assert "waiting for the first read" in said("list")
    found = list(source_lines.check(UsageSource.objects.get()))
    assert found[0] == f"exporters, from {scraped.url}: 1 samples"
    assert "dcgm-exporter" in found[1]
    assert "1 cards, 1 samples" in found[1]


def test_check_says_why_nothing_is_found(cluster: Cluster) -> None:
    said("set", "prod", "--prometheus=http://127.0.0.1:1")
    assert "cannot reach" in next(iter(source_lines.check(UsageSource.objects.get())))
