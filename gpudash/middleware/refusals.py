"""What is answered when no view answers: programs get problem details, people the pages templates/*.html."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponsePermanentRedirect
from django.shortcuts import render
from django.urls import is_valid_path
from django.views import defaults

from api.frame.problems import problem
from gpudash.middleware.database_away import answer_of_failure
from gpudash.middleware.roles import for_programs


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    if for_programs(request):
        return problem(400, "Invalid request. /api/v1/schema describes the valid requests.")
    return defaults.bad_request(request, exception)


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    if for_programs(request):
        return problem(403, "This is not allowed. Ask an administrator.")
    return defaults.permission_denied(request, exception)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    if for_programs(request):
        return problem(404, "Not found. /api/v1/schema lists all addresses.")
    if there := _without_slash(request):
        return HttpResponsePermanentRedirect(there)
    return defaults.page_not_found(request, exception)


def _without_slash(request: HttpRequest) -> str:
    """The address without the slashes at its end, where it is one; "" otherwise."""
    bare = request.path_info.rstrip("/")
    if request.method not in ("GET", "HEAD") or is_valid_path(request.path_info) or not is_valid_path(bare):
        return ""
    query = request.META.get("QUERY_STRING", "")
    return request.path.rstrip("/") + (f"?{query}" if query else "")


def too_large(request: HttpRequest) -> HttpResponse:
    detail = f"The request body exceeds {settings.DATA_UPLOAD_MAX_MEMORY_SIZE >> 10} KiB."
    if for_programs(request):
        return problem(413, detail)
    return render(request, "413.html", status=413)


def too_many(request: HttpRequest, wait_s: int) -> HttpResponse:
    """Without a template: whoever asks too often gets a short answer."""
    detail = f"Too many requests from this address or with this token. Try again in {wait_s} s."
    if for_programs(request):
        return problem(429, detail)
    return HttpResponse(detail, status=429, content_type="text/plain; charset=utf-8")


def server_error(request: HttpRequest) -> HttpResponse:
    """Without any template that could fail again. A database that is away is no mistake of ours: 503."""
    if away := answer_of_failure(request):
        return away
    if for_programs(request):
        return problem(500, "Internal error. Find the cause in the service log by the X-Request-ID of this response.")
    return defaults.server_error(request)
