"""What no API server should send: it is named, and it does not hide what stands beside it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kube.decode import ERROR_CHARS, Decoder, NotAList, Page
from kube.objects import Node, Pod
from kube.salvage import children
from tests.kube.words import line, page_body, pod

PODS: Decoder[Pod] = Decoder(Pod)
GOOD = json.dumps(pod("good")).encode()
DEEP = b"[" * 20_000 + b"]" * 20_000

#: name → the rest of an object after its metadata, or (with {}) its metadata's last member.
STRANGE_SPECS = {
    "spec is a list": b'"spec":[]',
    "spec is text": b'"spec":"x"',
    "containers is a mapping": b'"spec":{"containers":{}}',
    "a container is null": b'"spec":{"containers":[null]}',
    "a container is a number": b'"spec":{"containers":[1]}',
    "a quantity is a list": b'"spec":{"containers":[{"name":"c","resources":{"limits":{"nvidia.com/gpu":[1]}}}]}',
    "a quantity is a fraction": b'"spec":{"containers":[{"name":"c","resources":{"limits":{"nvidia.com/gpu":1.5}}}]}',
    "a count of 1e400": b'"status":{"containerStatuses":[{"name":"c","restartCount":1e400}]}',
    "a count of 5000 digits": b'"status":{"containerStatuses":[{"name":"c","restartCount":' + b"9" * 5000 + b"}]}",
    "a count that is true": b'"status":{"containerStatuses":[{"name":"c","restartCount":true}]}',
    "conditions is text": b'"status":{"conditions":"Ready"}',
    "phase is a number": b'"status":{"phase":7}',
    "half a surrogate pair in a known field": rb'"status":{"phase":"\ud800"}',
    "half a surrogate pair in an unknown field": rb'"other":"\ud800"',
    "half a surrogate pair and more": rb'"status":{"phase":"\udc00\ud800 and \u0041"}',
    "bytes that are not UTF-8": b'"status":{"phase":"\xff\xfe"}',
    "a bare control character": b'"status":{"phase":"a\x01b"}',
    "deep nesting in an unknown field": b'"other":' + DEEP,
    "deep nesting in a known field": b'"status":' + DEEP,
}
STRANGE_METADATA = {
    "annotations are null inside": '"annotations":{"a":null}',
    "annotations are a list": '"annotations":["a"]',
    "an annotation is a mapping": '"annotations":{"a":{"b":"c"}}',
    "labels are numbers": '"labels":{"a":1}',
    "owners are text": '"ownerReferences":"me"',
    "the creation time is a number": '"creationTimestamp":0',
    "the resource version is a number": '"resourceVersion":5',
}


def strange(spec: bytes = b"", metadata: str = "") -> bytes:
    meta = '{"name":"strange","namespace":"team-b","uid":"uid-strange"' + (f",{metadata}" if metadata else "") + "}"
    return b'{"metadata":' + meta.encode() + (b"," + spec if spec else b"") + b"}"


def list_of(*items: bytes) -> bytes:
    return (
        b'{"kind":"PodList","metadata":{"resourceVersion":"9","continue":"more"},"items":[' + b",".join(items) + b"]}"
    )


def names(page: Page[Any]) -> list[str]:
    return [thing.metadata.name for thing in page.objects]


FORMS = {name: strange(spec=spec) for name, spec in STRANGE_SPECS.items()}
FORMS |= {name: strange(metadata=text) for name, text in STRANGE_METADATA.items()}


@pytest.mark.parametrize("body", FORMS.values(), ids=FORMS.keys())
def test_a_strange_pod_is_named_and_its_neighbours_are_read(body: bytes) -> None:
    page = PODS.page(list_of(GOOD, body, GOOD))
    assert names(page) == ["good", "good"]
    (unread,) = page.unread
    assert (unread.namespace, unread.name, unread.uid) == ("team-b", "strange", "uid-strange")
    assert 0 < len(unread.error) <= ERROR_CHARS
    assert (page.resource_version, page.continue_token) == ("9", "more")


@pytest.mark.parametrize("body", FORMS.values(), ids=FORMS.keys())
def test_a_strange_pod_in_a_watch_is_named(body: bytes) -> None:
    event = PODS.event(b'{"type":"MODIFIED","object":' + body + b"}\n")
    assert event.object is None
    assert event.unread is not None
    assert (event.type, event.unread.name, event.unread.uid) == ("MODIFIED", "strange", "uid-strange")


def test_a_strange_event_keeps_its_resource_version_so_that_it_is_not_asked_for_again() -> None:
    body = strange(spec=b'"other":' + DEEP, metadata='"resourceVersion":"77"')
    assert PODS.event(b'{"type":"ADDED","object":' + body + b"}").resource_version == "77"


@pytest.mark.parametrize(
    ("item", "name"),
    [
        (b'{"metadata":{"name":"no-uid"}}', "no-uid"),
        (b'{"metadata":{"name":"null-uid","uid":null}}', "null-uid"),
        (b'{"metadata":{"uid":"u"}}', ""),
        (b'{"metadata":{"name":5,"uid":"u"}}', "5"),
        (b'{"metadata":null}', ""),
        (b"{}", ""),
        (b"null", ""),
        (b"[]", ""),
        (b'"text"', ""),
        (b"12", ""),
        (rb'{"metadata":{"name":"half\ud800","uid":"u"}}', "half?"),
        (b'{"metadata":{"name":"nul\\u0000l","uid":5}}', "null"),
    ],
)
def test_an_object_without_identity_is_kept_with_what_name_it_has(item: bytes, name: str) -> None:
    page = PODS.page(list_of(item, GOOD))
    assert names(page) == ["good"]
    assert [unread.name for unread in page.unread] == [name]


def test_a_name_of_a_megabyte_is_cut() -> None:
    page = PODS.page(list_of(b'{"metadata":{"name":"' + b"n" * 2**20 + b'","uid":1}}'))
    assert page.unread[0].name == "n" * 253


def test_an_annotation_of_a_megabyte_is_read() -> None:
    body = page_body(pod("large", annotations={"a": "x" * 2**20}))
    (large,) = PODS.page(body).objects
    assert large.metadata.annotations == {"a": "x" * 2**20}


def test_two_objects_of_one_name_are_both_there() -> None:
    assert names(PODS.page(page_body(pod("twin", uid="1"), pod("twin", uid="2")))) == ["twin", "twin"]


def test_of_a_key_that_is_there_twice_the_last_counts() -> None:
    item = b'{"metadata":{"name":"first","uid":"1"},"metadata":{"name":"second","uid":"2"}}'
    assert names(PODS.page(list_of(item))) == ["second"]


NOT_LISTS = {
    "nothing": (b"", "empty"),
    "blanks": (b" \n", "empty"),
    "an HTML page": (b"<!DOCTYPE html><html><body>Sign in</body></html>", "HTML page"),
    "an HTML page after blanks": (b"\n\n  <HTML>", "HTML page"),
    "a list that is cut off": (page_body(pod("a"), pod("b"))[:-40], "is cut off"),
    "a list that ends in a string": (page_body(pod("a"))[:60], "is cut off"),
    "a list of another kind": (page_body(kind="NodeList"), "received NodeList instead of PodList"),
    "a Status": (b'{"kind":"Status","code":500,"message":"no"}', "received Status instead of PodList"),
    "one object": (GOOD, "without a kind"),
    "a kind that is a number": (b'{"kind":5,"items":[]}', "kind"),
    "no items at all": (b'{"kind":"PodList","metadata":{"resourceVersion":"1"}}', "without items"),
    "items that are a mapping": (b'{"kind":"PodList","metadata":{},"items":{}}', "items"),
    "metadata that is text": (b'{"kind":"PodList","metadata":"x","items":[]}', "metadata"),
    "an array": (b"[1,2]", "array"),
    "null": (b"null", "null"),
    "plain text": (b"upstream connect error", "invalid JSON"),
    "two documents": (page_body() + page_body(), "invalid JSON"),
    "a byte order mark": (b"\xef\xbb\xbf" + page_body(), "invalid JSON"),
    "deep nesting": (DEEP, "got `array`"),
    "deep nesting beside the items": (
        b'{"kind":"NodeList","metadata":{},"x":' + DEEP + b',"items":[]}',
        "received NodeList",
    ),
    "metadata nested deeply": (b'{"kind":"PodList","metadata":' + DEEP + b',"items":[]}', "JSON"),
}


@pytest.mark.parametrize(("body", "said"), NOT_LISTS.values(), ids=NOT_LISTS.keys())
def test_an_answer_that_is_no_list_says_what_came(body: bytes, said: str) -> None:
    with pytest.raises(NotAList) as caught:
        PODS.page(body)
    assert said in str(caught.value)
    assert len(str(caught.value)) < 500


def test_a_long_kind_is_cut_in_the_message() -> None:
    with pytest.raises(NotAList) as caught:
        PODS.page(b'{"kind":"' + b"K" * 2**20 + b'","items":[]}')
    assert len(str(caught.value)) < 500


def test_items_that_are_null_are_an_empty_list_as_old_servers_write_it() -> None:
    page = PODS.page(b'{"kind":"PodList","metadata":{"resourceVersion":"3","continue":null},"items":null}')
    assert (page.objects, page.unread, page.resource_version, page.continue_token) == ([], [], "3", "")


def test_a_bookmark_carries_only_a_version() -> None:
    event = PODS.event(
        line("BOOKMARK", {"kind": "Pod", "metadata": {"resourceVersion": "44", "creationTimestamp": None}})
    )
    assert (event.type, event.resource_version, event.object) == ("BOOKMARK", "44", None)


def test_an_error_event_carries_code_and_reason() -> None:
    event = PODS.event(line("ERROR", {"kind": "Status", "code": 410, "reason": "Expired", "message": "m" * 9000}))
    assert (event.type, event.code, event.reason, len(event.message)) == ("ERROR", 410, "Expired", 2000)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"garbage",
        b"<html>",
        b"[]",
        b"null",
        b"{}",
        b'{"type":"ADDED"}',
        b'{"object":{}}',
        b'{"type":5,"object":{}}',
        b'{"type":"ADDED","object":{"metadata":{"name":"cut"',
        b'{"type":"BOOKMARK","object":{}}',
        b'{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":5}}}',
        b'{"type":"ERROR","object":{"code":"410"}}',
        b'{"type":"REPLACED","object":{"metadata":{"name":"a","uid":"b"}}}',
    ],
)
def test_a_line_that_is_no_watch_event_says_so(text: bytes) -> None:
    with pytest.raises(NotAList):
        PODS.event(text)


def test_a_page_of_strange_pods_is_read_in_linear_time() -> None:
    started = time.perf_counter()
    page = PODS.page(list_of(*[strange(spec=rb'"other":"\ud800"', metadata='"x":"' + "y" * 4000 + '"')] * 500, GOOD))
    assert (len(page.unread), len(page.objects)) == (500, 1)
    assert time.perf_counter() - started < 3


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None), max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["metadata", "name", "uid", "spec", "status", "items", "containers", "x"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


def refused_or_read(read: Callable[[bytes], object], body: bytes) -> str:
    """What was read, or the text of the refusal; anything else that is raised fails the test."""
    try:
        return repr(read(body))
    except NotAList as refusal:
        return str(refusal)


@pytest.mark.sweep
@given(thing=JSON)
@settings(max_examples=150, deadline=None)
def test_any_json_beside_a_good_pod_never_raises_and_never_hides_it(thing: Any) -> None:
    page = PODS.page(list_of(GOOD, json.dumps(thing).encode()))
    assert names(page)[0] == "good"
    assert len(page.objects) + len(page.unread) == 2


@pytest.mark.sweep
@given(thing=JSON)
@settings(max_examples=100, deadline=None)
def test_any_json_as_a_page_or_a_line_raises_nothing_but_not_a_list(thing: Any) -> None:
    body = json.dumps(thing).encode()
    for read in (PODS.page, PODS.event, Decoder(Node).page):
        assert refused_or_read(read, body)


@given(body=st.binary(max_size=80), cut=st.integers(0, 400))
@settings(max_examples=100, deadline=None)
def test_any_bytes_and_any_cut_raise_nothing_but_not_a_list(body: bytes, cut: int) -> None:
    whole = list_of(GOOD, strange(spec=body))
    for text in (body, whole, whole[:cut]):
        assert refused_or_read(PODS.page, text)


def test_a_string_that_is_cut_off_is_read_once_however_many_quotes_it_holds() -> None:
    """Each escaped quote was taken for the begin of another string that has no end."""
    started = time.process_time()
    assert children(b'{"a":"' + b'\\"' * 200_000) is None
    assert time.process_time() - started < 5
