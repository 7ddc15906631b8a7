"""What a watch says of itself is kept with how it was made, and read as a sentence again: pages say it in the reader's language."""

from __future__ import annotations

import pytest
from django.db.models.functions import Now

from inventory.condition import condition_of, watches
from inventory.mirror.anew import recognise, relist
from inventory.mirror.audit import Repair, _words
from inventory.mirror.compared import Difference
from inventory.models import Cluster, Watch
from inventory.models.cluster import Kind, WatchState
from kube.client import ApiError
from kube.identity import Identity
from kube.source import NotServed
from wording.said import Said, of_error, sentence, stored

pytestmark = pytest.mark.django_db


def why(cluster: Cluster, kind: Kind = Kind.NODES) -> str:
    return condition_of(watches().get(cluster=cluster, kind=kind)).reason


def test_who_asked_for_a_list_is_known_by_name(cluster: Cluster) -> None:
    relist(cluster, "ada")
    said = why(cluster)
    assert isinstance(said, Said)
    assert (said, said.arguments) == ("requested by ada", {"who": "ada"})


def test_why_another_cluster_is_listed_anew_and_why_none_is_known(cluster: Cluster) -> None:
    recognise(cluster.pk, Identity("", sentence("the response for the namespace kube-system has no UID")))
    cluster.refresh_from_db()
    assert cluster.uid_wording == {"template": cluster.uid_note, "arguments": {}}
    recognise(cluster.pk, Identity("a"))
    recognise(cluster.pk, Identity("b"))
    assert isinstance(why(cluster), Said)


def test_a_reason_of_an_older_release_stays_a_text(cluster: Cluster) -> None:
    Watch.objects.update(state=WatchState.REFUSED, reason="as it was", trouble_since=Now())
    assert (why(cluster), isinstance(why(cluster), Said)) == ("as it was", False)


def test_a_form_of_another_text_is_not_taken_for_it(cluster: Cluster) -> None:
    """One of two columns may be written by a release that does not know the other."""
    Watch.objects.update(state=WatchState.REFUSED, reason="as it is", reason_wording=stored(sentence("first list")))
    assert (why(cluster), isinstance(why(cluster), Said)) == ("as it is", False)


def test_what_an_api_server_says_is_its_own_and_what_is_said_of_it_is_ours() -> None:
    refused = of_error(ApiError(403, "Forbidden", "nodes is forbidden"))
    assert (refused, refused.template) == ("403 Forbidden: nodes is forbidden", "{said}")
    said = sentence("the API server has no {plural} of {group} ({versions})", plural="a", group="b", versions="v1")
    absent = of_error(NotServed(said))
    assert (absent, absent.template) == (
        "404 NotServed: the API server has no a of b (v1)",
        "{status} {reason}: {message}",
    )


def test_the_note_of_an_audit_is_made_of_what_it_found() -> None:
    found = [Difference("a", "changed in the synced data", None), Difference("b", "changed in the synced data", None)]
    note = Repair(2, _words(found), 0.1).note
    assert (note, isinstance(note, Said)) == ("2 changed in the synced data", True)
