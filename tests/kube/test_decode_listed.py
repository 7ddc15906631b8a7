"""A pod whose environment and status are read only when it is of interest: nothing that was named before is lost."""

from __future__ import annotations

import msgspec
import pytest

from kube import listed, objects
from kube.decode import Decoder, Unread
from tests.kube.test_decode_golden import GOLDEN
from tests.kube.test_decode_hostile import FORMS, GOOD, list_of, names

PODS: Decoder[listed.Pod] = Decoder(listed.Pod)
BODY = (GOLDEN / "pods.json").read_bytes()


@pytest.mark.parametrize("body", FORMS.values(), ids=FORMS.keys())
def test_a_strange_pod_is_named_at_once_or_when_its_parts_are_read(body: bytes) -> None:
    page = PODS.page(list_of(GOOD, body, GOOD))
    assert [name for name in names(page) if name == "good"] == ["good", "good"]
    if page.unread:
        assert [unread.name for unread in page.unread] == ["strange"]
    else:
        with pytest.raises(listed.Unreadable, match="status: "):
            listed.status(page.objects[1])


def test_the_parts_are_those_of_the_whole_pod() -> None:
    whole, parts = Decoder(objects.Pod).page(BODY), PODS.page(BODY)
    assert parts.unread == whole.unread
    for pod, other in zip(whole.objects, parts.objects, strict=True):
        assert listed.status(other) == pod.status
        for container, raw in zip(_containers(pod), _containers(other), strict=True):
            assert listed.environment(raw) == container.env
            assert raw.resources == container.resources


def _containers(pod: objects.Pod | listed.Pod) -> list[objects.Container | listed.Container]:
    spec = pod.spec
    return [*(spec.containers or ()), *(spec.initContainers or ())] if spec else []


@pytest.mark.parametrize("given", [objects.Container, objects.PodSpec, objects.Pod])
def test_the_fields_of_a_listed_pod_are_those_of_a_pod(given: type[msgspec.Struct]) -> None:
    """And more, of what is counted while it is listed and not kept."""
    fields = given.__struct_fields__
    assert getattr(listed, given.__name__).__struct_fields__[: len(fields)] == fields


def test_what_is_missing_or_null_is_nothing() -> None:
    for rest in (b"", b',"status":null,"spec":{"containers":[{"env":null}]}'):
        pod = PODS.object(b'{"metadata":{"name":"a","uid":"b"}' + rest + b"}")
        assert not isinstance(pod, Unread)
        assert listed.status(pod) is None
        assert [listed.environment(raw) for raw in _containers(pod)] in ([], [None])
