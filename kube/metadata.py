"""A list of a kind's metadata alone: which objects there are, and in which version. Much smaller than the objects.

The form is that of the Kubernetes API (meta.k8s.io/v1, PartialObjectMetadataList). A server that answers with whole objects is
understood too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from kube.client import Client
from kube.decode import NotAList
from kube.decoders import decoder
from kube.pages import get_page
from wording.said import sentence

ACCEPT = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"


class Meta(msgspec.Struct, gc=False):
    """Of one object."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resourceVersion: str = ""


class _Item(msgspec.Struct, gc=False):
    metadata: Meta = msgspec.field(default_factory=Meta)


class _ListMeta(msgspec.Struct):
    resourceVersion: str = ""
    continue_: str | None = msgspec.field(default=None, name="continue")


class _List(msgspec.Struct):
    metadata: _ListMeta
    items: list[_Item] | None


_list = decoder(_List)


class MetaPage(msgspec.Struct):
    """resource_version: of the whole list."""

    objects: list[Meta]
    resource_version: str


def pages(client: Client, path: str, limit: int, selected: Iterable[tuple[str, str]] = ()) -> Iterator[MetaPage]:
    """All pages as of one version. selected: what of the kind is read, as parameters of the request.

    Raises ApiError (410 when it took too long), BadKubeconfig and NotAList.
    """
    token = ""
    while True:
        query = dict(selected) | ({"continue": token} if token else {})
        answered = get_page(client, path, query, limit, ACCEPT)
        limit = answered.limit
        try:
            page = _list.decode(answered.body)
        except (msgspec.DecodeError, RecursionError) as error:
            raise NotAList(
                sentence("received something other than the requested metadata list: {error}", error=str(error)[:240])
            ) from None
        yield MetaPage([item.metadata for item in page.items or ()], page.metadata.resourceVersion)
        if not page.metadata.continue_:
            return
        if page.metadata.continue_ == token:
            raise NotAList(sentence("the list does not end: its continue token repeats"))
        token = page.metadata.continue_
