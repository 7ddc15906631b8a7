"""Null characters in addresses and cookies. No name has one, and PostgreSQL refuses even to look for it.

They are read as the replacement character, as Django reads what is no UTF-8: then nothing is found, and each page says so in
its own words. In parameters and bodies they are refused by the name of their field.
"""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

_INSTEAD = "\N{REPLACEMENT CHARACTER}"


class NullCharactersMiddleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        request.path_info = request.path_info.replace("\x00", _INSTEAD)
        request.path = request.path.replace("\x00", _INSTEAD)
        for name, value in request.COOKIES.items():
            request.COOKIES[name] = value.replace("\x00", _INSTEAD)
        return self.get_response(request)
