"""A cluster by an uploaded kubeconfig: checked, stored, added; or its kubeconfig replaced. `gpudash cluster add` does it with a file.

One at a time in a process: two uploads for one name cannot meet, and servers that do not answer hold one thread of the pages.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from pathlib import Path
from threading import Lock

from inventory import checks, clusters
from inventory.kubeconfig_files import CannotStore, may_store, offered, stored
from inventory.models import Cluster
from kube.client import ApiError, BadKubeconfig, Client
from kube.identity import identity_of
from kube.uploaded import Upload
from wording.said import of_error, sentence

_one = Lock()


class NotConnected(Exception):
    """The cluster is as it was. The text says why, and holds no secret."""


class Busy(NotConnected):
    """Another upload is being checked."""


def connect(name: str, upload: Upload, context: str) -> Cluster:
    """Add a cluster. Raises NotConnected, and ValidationError for a name that is none."""
    name = Cluster._meta.get_field("name").clean(name, Cluster())
    with _alone():
        if Cluster.objects.filter(name=name).exists():
            raise NotConnected(
                sentence("Cluster {name} already exists. Choose another name, or replace its kubeconfig.", name=name)
            )
        return _connect(name, "", upload, context)


def reconnect(cluster: Cluster, upload: Upload, context: str) -> Cluster:
    """Replace the kubeconfig of its watchers; that of its launcher stays. Raises NotConnected."""
    with _alone():
        return _connect(cluster.name, cluster.launcher_kubeconfig, upload, context)


@contextmanager
def _alone() -> Iterator[None]:
    if not may_store():
        raise NotConnected(sentence("This process has no cluster credentials."))
    if not _one.acquire(blocking=False):
        raise Busy(sentence("Another kubeconfig is being checked. Try again in a few seconds."))
    try:
        yield
    finally:
        _one.release()


def _connect(name: str, launcher: str, upload: Upload, context: str) -> Cluster:
    try:
        with offered(name, upload.only(context)) as offer:
            _ask(name, offer)
            with stored(offer, name) as path:
                return clusters.add(name, str(path), context, launcher)
    except (BadKubeconfig, CannotStore) as error:
        raise NotConnected(of_error(error)) from None
    except ApiError as error:
        raise NotConnected(_refusal(error)) from None


def _ask(name: str, offer: Path) -> None:
    """Raises NotConnected where nodes and pods may not be read, or where it is another cluster; ApiError and BadKubeconfig."""
    client = Client(str(offer))
    try:
        lacks = [one.wanted for one in checks.check_new(client) if not one.allowed]
        uid = identity_of(client).uid
    finally:
        client.close()
    if lacks:
        rights = ", ".join(f"{one.verb} {one.resource}" for one in lacks)
        raise NotConnected(
            sentence("The credentials have no permission to {rights}. Apply deploy/watcher-role.yaml.", rights=rights)
        )
    if uid:
        _check_identity(name, uid)


def _refusal(error: ApiError) -> str:
    """What a server says of a refusal is left out: it may repeat the token that it was sent."""
    if not error.status:
        return of_error(error)
    known = error.status in {one.value for one in HTTPStatus}
    answer = f"{error.status} {HTTPStatus(error.status).phrase}" if known else str(error.status)
    if error.status == 401:
        return sentence("The API server does not accept the credentials ({answer}).", answer=answer)
    return sentence("The API server refused the check ({answer}).", answer=answer)


def _check_identity(name: str, uid: str) -> None:
    """One cluster under two names would be counted twice; two under one name would share a history. Raises NotConnected."""
    same = Cluster.objects.filter(uid=uid).exclude(name=name).first()
    if same is not None:
        raise NotConnected(sentence("This is the cluster {name} (same UID of kube-system).", name=same.name))
    other = Cluster.objects.filter(name=name).exclude(uid__in=("", uid)).first()
    if other is not None:
        raise NotConnected(
            sentence(
                "The kubeconfig belongs to another cluster, not {name} (different UID of kube-system). "
                "Add that cluster under another name.",
                name=name,
            )
        )
