"""What a client asks, parsed from method, path, query and body. Everything in it is hostile until parsed here."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import msgspec

from fleetsim.resources import BY_PATH, Resource
from fleetsim.selectors import Selection, parse_fields, parse_labels
from fleetsim.status import ApiError, bad_request, no_such_path

#: Seconds that a watch lasts when the client names no time-out (the API server takes 30 to 60 minutes).
WATCH_TIMEOUT_S = 1800.0

_CORE = re.compile(r"^/api/(?P<version>v1)/(?P<rest>.+)$")
_PROXY = re.compile(
    r"^/api/v1/namespaces/(?P<namespace>[^/]+)/pods/(?:http:)?(?P<pod>[a-z0-9.-]+)(?::(?P<port>[0-9]{1,5}))?:?/proxy(?P<rest>/.*)?$"
)
_GROUP = re.compile(r"^/apis/(?P<group>[^/]+)/(?P<version>[^/]+)/(?P<rest>.+)$")


@dataclass(frozen=True)
class Target:
    """The object or collection that a path names."""

    resource: Resource
    namespace: str | None = None
    name: str | None = None
    subresource: str | None = None


@dataclass(frozen=True)
class Proxied:
    """A path behind a port of a pod."""

    namespace: str
    pod: str
    port: int
    path: str


@dataclass(frozen=True)
class Request:
    """One request. `query` has the last value of each parameter."""

    method: str
    path: str
    query: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    content_type: str = ""

    def flag(self, name: str) -> bool:
        return self.query.get(name, "").lower() in ("true", "1")

    def number(self, name: str) -> int | None:
        """A parameter that must be a natural number; None when it is not given. Raises ApiError 400."""
        text = self.query.get(name, "")
        if text == "":
            return None
        if not re.fullmatch(r"[0-9]{1,18}", text):
            raise bad_request(f"{name}: Invalid value: {text!r}: must be a non-negative number")
        return int(text)

    def object(self) -> dict[str, Any]:
        """The body as a JSON object. Raises ApiError 400 (no JSON) or 415 (another media type)."""
        media = self.content_type.partition(";")[0].strip().lower()
        if self.method == "POST" and media not in ("", "application/json"):
            raise ApiError(415, "UnsupportedMediaType", f"the demo reads application/json, not {media}")
        try:
            found = msgspec.json.decode(self.body or b"{}")
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            raise bad_request("the object provided is unrecognized: the body is not JSON") from None
        if not isinstance(found, dict):
            raise bad_request("the object provided is unrecognized: the body is not a JSON object")
        return found


def parse(method: str, raw_path: str, body: bytes, content_type: str) -> Request:
    """Split path and query. Raises ApiError 400 on a URL that is none."""
    try:
        parts = urlsplit(raw_path)
        query = parse_qs(parts.query, keep_blank_values=True, max_num_fields=100)
    except ValueError:
        raise bad_request("the URL cannot be parsed") from None
    path = "/" + parts.path.strip("/")
    return Request(method, path, {name: values[-1] for name, values in query.items()}, body, content_type)


def proxied(path: str) -> Proxied | None:
    """The path behind a pod's port that the API server is asked to go to; None for any other path.

    "http:" may stand before the name, and "https:" is another port's protocol: nothing here speaks it. Without a port it is 80.
    """
    found = _PROXY.match(path)
    if found is None:
        return None
    port = found["port"] or "80"
    return Proxied(found["namespace"], found["pod"], int(port), found["rest"] or "/")


def target(path: str) -> Target:
    """Raises ApiError 404 for a path that names nothing that is served."""
    found = _CORE.match(path) or _GROUP.match(path)
    if not found:
        raise no_such_path()
    segments = [unquote(segment) for segment in found["rest"].split("/")]
    namespace = None
    if segments[0] == "namespaces" and len(segments) > 2:
        namespace, segments = segments[1], segments[2:]
    group = found.groupdict().get("group", "")
    resource = BY_PATH.get((group, found["version"], segments[0]))
    if resource is None or len(segments) > 3 or (namespace is not None) != (resource.namespaced and _scoped(path)):
        raise no_such_path()
    if resource.namespaced and namespace is None and len(segments) > 1:
        raise no_such_path()
    name = segments[1] if len(segments) > 1 else None
    return Target(resource, namespace, name, segments[2] if len(segments) > 2 else None)


def _scoped(path: str) -> bool:
    return "/namespaces/" in path


def selection(request: Request, wanted: Target) -> Selection:
    """Namespace, labels and fields. Raises ApiError 400 on selectors that are none."""
    labels = parse_labels(request.query.get("labelSelector", ""))
    fields = parse_fields(request.query.get("fieldSelector", ""), wanted.resource.plural)
    return Selection(wanted.namespace, labels, fields)


def version(request: Request) -> int | None:
    """The resource version as a number; None when unset or "0" ("any"). Raises ApiError 400."""
    return request.number("resourceVersion") or None
