"""One answer for all who ask for the same: rendered once per version of the mirror (`runtime.cached`), not once per visitor.

Pages and REST lists whose view says `shareable`. A page is rendered for nobody in particular; the name, the form token and the
server's time are put in for each visitor. The role has been checked before; it is part of what is the same, as are language,
time zone, theme and address. Refusals are never shared.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from hashlib import blake2b
from secrets import token_hex
from typing import Any

from django.conf import settings
from django.contrib.auth.models import Permission
from django.contrib.messages import get_messages
from django.contrib.messages.storage import default_storage
from django.contrib.sessions.backends.signed_cookies import SessionStore
from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import get_token
from django.utils.cache import get_conditional_response, patch_vary_headers
from django.utils.html import escape
from django.utils.timezone import get_current_timezone_name
from django.utils.translation import get_language
from django_htmx.middleware import HtmxDetails

from gpudash.middleware.compression import LEAST_BYTES, deflated, gzipped, plain_block, takes_gzip
from pages.frame.live import HEADER, LivePage, Part, refreshed
from runtime.cached import NotShared, is_shareable, look, reading, store

#: Stands where the name of the visitor belongs: nothing else in a page can be the same.
_NAME = f"visitor-{token_hex(16)}"
_SECRET = token_hex(16)
_TOKEN = r'(?<=name="csrfmiddlewaretoken" value=")[^"]*(?=")'  # noqa: S105 - where one stands, not one
_HOLES = re.compile(rf'(?P<token>{_TOKEN})|(?P<now>(?<= data-now=")[^"]*(?="))|(?P<name>{_NAME})')
#: An age in seconds, as `units.ago` writes it: such an answer is good for a second.
_SECONDS = re.compile(r"<time [^>]*>[^<]*(?<!\d)\d{1,2} ?(?:s\b|秒)")
#: A refresh that has the present content is answered without rendering for so long while the version stays: longer than whole
#: answers are kept, since of what no version names (the clock) little changes a page that is open already.
UNCHANGED_S = 30.0
_KEPT_HEADERS = ("Content-Type", "Vary", "Allow", "Filter-Bytes")


class Anyone:
    """Whoever has this role, as templates and views ask for a user."""

    is_authenticated = is_active = True
    is_anonymous = False
    pk = id = None

    def __init__(self, role: str, is_superuser: bool) -> None:
        self.role, self.is_superuser = role, is_superuser

    def get_username(self) -> str:
        return _NAME

    def has_perm(self, name: str, thing: Any = None) -> bool:
        app, _, code = name.partition(".")
        of_role = Permission.objects.filter(group__name=self.role, content_type__app_label=app, codename=code)
        return self.is_superuser or of_role.exists()


@dataclass(frozen=True)
class SharedPage:
    """A page and its live part. pieces: bytes as they are, and in between the names of what each visitor has of his own."""

    pieces: tuple[bytes | str, ...]
    live: Part
    fingerprint: str
    good_s: float

    @classmethod
    def of(cls, page: LivePage) -> SharedPage:
        text = page.content.decode()
        pieces: list[bytes | str] = []
        at = 0
        for hole in _HOLES.finditer(text):
            pieces += [text[at : hole.start()].encode(), str(hole.lastgroup)]
            at = hole.end()
        pieces.append(text[at:].encode())
        good_s = 1.0 if _SECONDS.search(page.part.html) else 60.0
        return cls(tuple(pieces), page.part, page.fingerprint, good_s)

    @property
    def size(self) -> int:
        return sum(len(piece) for piece in self.pieces) + len(self.live.html)

    @cached_property
    def blocks(self) -> tuple[bytes, ...]:
        return tuple(deflated(piece) if isinstance(piece, bytes) else b"" for piece in self.pieces)

    def answer(self, request: HttpRequest) -> HttpResponse:
        own = {"token": get_token(request), "name": escape(request.user.get_username()), "now": _now()}
        parts = [piece if isinstance(piece, bytes) else own[piece].encode() for piece in self.pieces]
        plain = b"".join(parts)
        if not takes_gzip(request):
            return HttpResponse(plain)
        blocks = (block or plain_block(part) for block, part in zip(self.blocks, parts, strict=True))
        return HttpResponse(gzipped(blocks, plain), headers={"Content-Encoding": "gzip"})

    @cached_property
    def part_block(self) -> bytes:
        return deflated(self.live.html.encode())

    def refresh(self, request: HttpRequest) -> HttpResponse:
        """The live part, where it is another than the visitor has."""

        def answer() -> HttpResponse:
            plain = self.live.html.encode()
            if len(plain) < LEAST_BYTES or not takes_gzip(request):
                return HttpResponse(plain)
            return HttpResponse(gzipped([self.part_block], plain), headers={"Content-Encoding": "gzip"})

        return refreshed(request, self.live, self.fingerprint, answer)


@dataclass(frozen=True)
class SharedList:
    """An answer of REST. etag: of its content."""

    body: bytes
    headers: dict[str, str]
    etag: str
    good_s: float = 60.0
    _gzipped: list[bytes] = field(default_factory=list)

    @property
    def size(self) -> int:
        return len(self.body)

    def answer(self, request: HttpRequest) -> HttpResponse:
        response = HttpResponse(self.body, headers=self.headers | {"ETag": self.etag})
        if takes_gzip(request):
            if not self._gzipped:
                self._gzipped.append(gzipped([deflated(self.body)], self.body))
            response.content = self._gzipped[0]
            response.headers["Content-Encoding"] = "gzip"
        patch_vary_headers(response, ("Accept-Encoding",))
        conditional: HttpResponse | None = get_conditional_response(request, etag=self.etag, response=response)
        return conditional or response


class SharedAnswersMiddleware:
    """Behind the one that checks the role."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.method not in ("GET", "HEAD"):
            return self.get_response(request)
        with reading():
            return self.get_response(request)

    def process_view(
        self, request: HttpRequest, view: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> HttpResponse | None:
        if not (settings.SHARED_LOOK_S and request.method == "GET" and is_shareable(view)):
            return None
        if request.GET.get("format") or getattr(request, "role", None) is None:
            return None
        try:
            share = _list if hasattr(view, "cls") else _page
            return share(request, view, args, kwargs)
        except NotShared as alone:
            answer: HttpResponse = alone.answer
            return answer


def _page(
    request: HttpRequest, view: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> HttpResponse | None:
    if len(get_messages(request)):
        return None
    who: Any = request
    told = (get_language(), get_current_timezone_name(), _theme(request))
    key = ("page", request.get_full_path(), told, who.role.value, who.user.is_superuser)

    def compute() -> SharedPage:
        page = view(_for_anyone(request), *args, **kwargs)
        if not isinstance(page, LivePage) or page.status_code != 200:
            raise NotShared(None)
        return SharedPage.of(page)

    try:
        found: SharedPage = _unchanged(request, key) or store.get(key, look.version(), compute, behind=True)
    except NotShared:
        return None
    response = found.refresh(request) if request.htmx else found.answer(request)  # type: ignore[attr-defined]
    response.headers["Cache-Control"] = "private, no-cache"
    patch_vary_headers(response, ("HX-Request", "Accept-Encoding"))
    return response


def _unchanged(request: HttpRequest, key: Hashable) -> SharedPage | None:
    """The page, where it is the one that the visitor has and the mirror still has the version of it."""
    known = request.headers.get(HEADER) if request.htmx else None  # type: ignore[attr-defined]
    found: SharedPage | None = store.find(key, look.version(), UNCHANGED_S) if known else None
    return found if found is not None and found.fingerprint == known else None


def _for_anyone(request: HttpRequest) -> HttpRequest:
    """The same request, of nobody in particular, for the whole page."""
    made: Any = copy.copy(request)
    own = ("HTTP_COOKIE", "HTTP_HX_REQUEST", "HTTP_X_FINGERPRINT", "HTTP_AUTHORIZATION")
    made.META = {name: value for name, value in request.META.items() if name not in own} | {"CSRF_COOKIE": _SECRET}
    for name in ("headers", "_freshness", "_messages"):
        made.__dict__.pop(name, None)
    made.htmx = HtmxDetails(made)
    seen: Any = request
    made.user = Anyone(seen.role.value, seen.user.is_superuser)
    made.COOKIES = {"theme": _theme(request)}
    made.session = SessionStore()
    made._messages = default_storage(made)
    return made  # type: ignore[no-any-return]


def _theme(request: HttpRequest) -> str:
    return request.COOKIES.get("theme", "auto")[:8]


def _list(
    request: HttpRequest, view: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> HttpResponse:
    key = ("rest", request.build_absolute_uri(), request.headers.get("Accept", "*/*"), get_language())

    def compute() -> SharedList:
        response = view(request, *args, **kwargs)
        if hasattr(response, "render"):
            response.render()
        if response.status_code != 200 or response.streaming:
            raise NotShared(response)
        kept = {name: response.headers[name] for name in _KEPT_HEADERS if name in response.headers}
        etag = f'W/"{blake2b(response.content, digest_size=12).hexdigest()}"'
        return SharedList(response.content, kept, etag)

    found: SharedList = store.get(key, look.version(), compute, behind=True)
    return found.answer(request)


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
