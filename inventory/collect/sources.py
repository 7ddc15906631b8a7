"""Where the exporters of a cluster are read: set, changed, taken away. Commands call this; the web process shows it only."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from django.db.models.functions import Now

from audit.actions import Action
from audit.acts import act
from inventory.collect.prometheus import BadAddress, Prometheus, address, header
from inventory.credential_files import refused
from inventory.models import Cluster, UsageSource
from inventory.models.usage import SourceState, Way
from kube.client import BadKubeconfig, Client
from wording.said import sentence

#: Seconds between rounds: exporters measure every 15 to 30 s.
EVERY_S, LEAST_S, MOST_S = 60, 15, 3600

_NAME = r"[A-Za-z_][A-Za-z0-9_]*"
_VALUE = r'"(?:[^"\\\n]|\\.)*"'
_MATCHERS = re.compile(rf"\s*{_NAME}\s*(?:=~|!~|!=|=)\s*{_VALUE}\s*(?:,\s*{_NAME}\s*(?:=~|!~|!=|=)\s*{_VALUE}\s*)*")


def set_prometheus(
    cluster: Cluster,
    base: str,
    token_file: str = "",
    ca_file: str = "",
    headers: Sequence[str] = (),
    matchers: str = "",
    every_s: int = EVERY_S,
) -> UsageSource:
    """Add or change the Prometheus of a cluster; it is asked at once. Raises BadAddress, and writes nothing then."""
    made = dict(header(one) for one in headers)
    matchers = matchers.strip().strip("{}").strip().rstrip(",")
    if matchers and not _MATCHERS.fullmatch(matchers):
        raise BadAddress(
            sentence(
                '{matchers} must be a list of label matchers such as cluster="prod",region=~"eu-.*"',
                matchers=matchers[:200],
            )
        )
    if not LEAST_S <= every_s <= MOST_S:
        raise BadAddress(
            sentence(
                "the interval {every_s} s must be {least} to {most} s",
                every_s=every_s,
                least=LEAST_S,
                most=MOST_S,
            )
        )
    token, ca = _absolute(token_file, sentence("token file")), _absolute(ca_file, sentence("certificate file"))
    Prometheus(base, token, ca, made).close()
    told = {"token_file": token, "matchers": matchers}
    with act(Action.CLUSTER_SET, cluster.name, usage=address(base), every_s=every_s, **told):
        source, _ = UsageSource.objects.get_or_create(cluster=cluster, defaults={"way": Way.PROMETHEUS})
        UsageSource.objects.filter(pk=source.pk).update(
            way=Way.PROMETHEUS,
            address=address(base),
            token_file=token,
            ca_file=ca,
            headers=made,
            matchers=matchers,
            every_s=every_s,
            **_anew(),
        )
    source.refresh_from_db()
    return source


#: A page goes through the API server, and nothing is newer than the exporter's own round of 30 s.
LEAST_DIRECT_S = 60


def set_direct(cluster: Cluster, every_s: int = EVERY_S) -> UsageSource:
    """Have the exporters' pods read by the API server. Raises BadAddress, and writes nothing then."""
    if not LEAST_DIRECT_S <= every_s <= MOST_S:
        raise BadAddress(
            sentence(
                "the interval {every_s} s must be {least} to {most} s",
                every_s=every_s,
                least=LEAST_DIRECT_S,
                most=MOST_S,
            )
        )
    plain = {"address": "", "token_file": "", "ca_file": "", "headers": {}, "matchers": ""}
    with act(Action.CLUSTER_SET, cluster.name, usage="directly", every_s=every_s):
        source, _ = UsageSource.objects.get_or_create(cluster=cluster, defaults={"way": Way.DIRECT})
        UsageSource.objects.filter(pk=source.pk).update(way=Way.DIRECT, every_s=every_s, **plain, **_anew())
    source.refresh_from_db()
    return source


def _anew() -> Mapping[str, object]:
    """Who reads with the old settings loses the lease; the next round begins at once."""
    return {
        "holder": "",
        "expires_at": None,
        "state": SourceState.WAITING,
        "reason": "",
        "trouble_since": None,
        "failures": 0,
        # From now on: a source that nobody reads is overdue, though it never had a round.
        "due_at": Now(),
    }


def remove(cluster: Cluster) -> bool:
    """Measure this cluster no more; what was measured goes too. Whether it was."""
    with act(Action.CLUSTER_SET, cluster.name, usage="no more") as done:
        was = UsageSource.objects.filter(cluster=cluster).delete()[0] > 0
        if not was:
            done.nothing()
    return was


def client_of(source: UsageSource) -> Prometheus:
    """Raises BadAddress where a file is gone, or is not one to read."""
    for path in (source.token_file, source.ca_file):
        if text := refused(path):
            raise BadAddress(text)
    return Prometheus(source.address, source.token_file, source.ca_file, source.headers)


def direct_client_of(source: UsageSource) -> Client:
    """With the credentials of the cluster's watchers. Raises BadKubeconfig."""
    if text := refused(source.cluster.kubeconfig):
        raise BadKubeconfig(text)
    return Client(source.cluster.kubeconfig, source.cluster.context)


def _absolute(path: str, what: str) -> str:
    if not path:
        return ""
    found = Path(path).expanduser().absolute()
    if not found.is_file():
        raise BadAddress(sentence("{what} {path} not found", what=what, path=path))
    if text := refused(str(found)):
        raise BadAddress(text)
    return str(found)
