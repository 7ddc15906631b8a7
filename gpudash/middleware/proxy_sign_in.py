"""A proxy that signs people in, as oauth2-proxy does, and tells who asks in a header.

Anybody can send such a header. So it counts only where the other end of the connection is the proxy, which our web server notes
(`marked`) before it believes what the proxy tells of the client's address.
"""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import IPv6Address, ip_address
from typing import Any

from django.conf import settings
from django.core.exceptions import MiddlewareNotUsed
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from accounts import external
from accounts.addresses import client_address
from accounts.bearer import credentials
from api.frame.problems import problem
from audit.actions import Kind
from audit.who import Who, acting
from gpudash.middleware.request_log import request_id
from gpudash.middleware.roles import for_programs

#: In the environ of a request. Names of headers begin with HTTP_, so no client can set it.
FROM_PROXY = "gpudash.from_proxy"
#: In a session: what the proxy told when it began.
TOLD = "proxy_told"
SOURCE = BY = "proxy"
_MOST = 16_000


def marked(application: Callable[..., Any], proxy: str) -> Callable[..., Any]:
    """The application, told of each request whether this address has sent it. "" and *, which is anybody: never."""

    def asked(environ: dict[str, Any], start: Callable[..., Any]) -> Any:
        environ[FROM_PROXY] = proxy not in ("", "*") and _same(environ.get("REMOTE_ADDR", ""), proxy)
        return application(environ, start)

    return asked


def _same(peer: str, proxy: str) -> bool:
    try:
        address = ip_address(peer.partition("%")[0])
        mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
        return (mapped or address) == ip_address(proxy)
    except ValueError:
        return False


class ProxySignInMiddleware:
    """Signs in whom the proxy names, out whom it names no more. What it tells of groups is looked at when it changes."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        if settings.PROXY_HEADERS is None:
            raise MiddlewareNotUsed
        self.get_response = get_response
        self.user, self.groups = (
            _variable(name) for name in (settings.PROXY_HEADERS.user, settings.PROXY_HEADERS.groups)
        )

    def __call__(self, request: HttpRequest) -> HttpResponse:
        try:
            if not _is_a_program(request):
                self._follow(request)
        except external.NotLetIn as error:
            if for_programs(request):
                return problem(403, str(error))
            return render(request, "access/not_signed_in.html", {"text": str(error), "proxy": True}, status=403)
        return self.get_response(request)

    def _follow(self, request: HttpRequest) -> None:
        """Raises NotLetIn."""
        told = self._told(request)
        if told is None and settings.SESSION_COOKIE_NAME not in request.COOKIES:
            return
        before = request.session.get(TOLD)
        if before == told and (told is None or request.user.is_authenticated):
            return
        if told is None:
            request.session.flush()
            return
        name, groups = told
        who = Who(kind=Kind.ANONYMOUS.value, address=client_address(request), request=request_id.get())
        with acting(who):
            user = external.account_of(SOURCE, name, name)
            external.let_in(user, (one.strip() for one in groups.split(",")), BY)
            external.sign_in(request, user, BY)
        request.session[TOLD] = told

    def _told(self, request: HttpRequest) -> list[str] | None:
        """The name and the groups, as the proxy wrote them. Raises NotLetIn where they are longer than is taken."""
        name, groups = request.META.get(self.user, "").strip(), request.META.get(self.groups, "")
        if not request.META.get(FROM_PROXY) or not name:
            return None
        # Half a name is another's name, and half a list may lack the group that decides.
        if len(name) > external.MOST_SUBJECT or len(groups) > _MOST:
            raise external.NotLetIn(_("The proxy sent user headers that are too long. Ask an administrator."))
        return [name, groups]


def _is_a_program(request: HttpRequest) -> bool:
    """Whether the request is its token's, which `role_middleware` looks at, and no person's. By any other header it is a person's."""
    return for_programs(request) and credentials(request.headers.get("Authorization", "")) is not None


def _variable(header: str) -> str:
    return f"HTTP_{header.upper().replace('-', '_')}"
