"""The log of a run: windows of its lines for the page, new lines while it comes, and the raw bytes to save."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_safe

from pages.frame.links import state_url, with_query
from pages.frame.refusals import BadParameter, NotThere, answered
from pages.rows.runs import reasons_of
from pages.sections.logwindow import MOST_LINES, Log, LogLine, Place, Window
from validations import logstore
from validations.models import LogChunk, Run
from validations.suites.engine.log import ENCODINGS, Form

VIEWS = ("evidence", "all", "tail")
LONGEST_SEARCH = 200
#: A log that is no longer is shown whole, its decisive lines marked.
SHORT = 60


@dataclass(frozen=True)
class More:
    """Where a log goes on that still comes. open: parts of its last line, which comes again when it is whole. url: of what comes."""

    open: list[LogLine]
    url: str


@dataclass(frozen=True)
class LogPanel:
    """The log as the page shows it. view: evidence, all, tail or search. why_empty: why there is no line, "" where there is one.

    more: None where the page does not follow it. searched: whether it is long enough to be searched.
    """

    window: Window
    view: str
    search: str
    why_empty: str
    more: More | None
    chips: list[tuple[str, str, bool]]
    earlier_url: str
    later_url: str
    marked: int
    searched: bool


@require_safe
@answered
def run_log(request: HttpRequest, run_id: str) -> HttpResponseBase:
    """What came after a place, for the page to append; 204 when the log is still as long as `stored` says.

    The lines before the place are not read. Where the log does not have this place, its end comes, to take the place of all
    that is shown. With the end of the run comes what the page says of a log that is complete.
    """
    row = Run.objects.of_id(run_id)
    if row is None:
        raise NotThere(_("No run %(id)s.") % {"id": run_id[:64]})
    place, stored = _place(request), _number(request, "stored")
    if stored == row.log_stored and row.active:
        return HttpResponse(status=204)
    raw = _since(row, place)
    log = _log(row) if raw is None else _log(row, raw, place)
    window = log.starting(1)
    flood = window.after
    window, more = _split(row, log, log.ending(log.last) if flood else window)
    context: dict[str, Any] = {"window": window, "skipped": flood and raw is not None, "more": more}
    if more is None:
        view = "tail"
        context |= {"chips": _chips(row, log, view), "why_empty": "" if log.last else _why_empty(row, view, "")}
    response = HttpResponse(render_to_string("validations/log_more.html", context))  # no frame around it
    response.headers["X-Log-Lines"] = str(len(window.lines))
    response.headers["X-Log-Proof"] = ",".join(str(number) for number in sorted(evidence_of(row))[:50])
    if raw is None:
        response.headers["HX-Retarget"] = "[data-lines]"
        response.headers["HX-Reswap"] = "innerHTML"
    response.headers["Cache-Control"] = "private, no-store"
    return response


def _since(row: Run, place: Place) -> bytes | None:
    """The stored bytes from this place on; None where no line of the log begins there."""
    feed = len(place.form.feed) if place.offset else 0
    if place.line > place.offset or place.offset > row.log_stored:
        return None
    raw = logstore.piece(row, place.offset - feed, row.log_stored - place.offset + feed)
    return raw[feed:] if raw[:feed] == place.form.feed[:feed] else None


def _log(row: Run, raw: bytes | None = None, since: Place | None = None) -> Log:
    """The log, or this rest of it, with the lines that the verdict rests on."""
    if raw is None:
        raw = logstore.whole(row)[: row.log_stored]  # another process may have stored more since the row was read
    log = Log(raw, since, row.active)
    log.mark(evidence_of(row))
    return log


def _split(row: Run, log: Log, window: Window) -> tuple[Window, More | None]:
    """The window without the line that may still grow, and how it goes on; while the run is under way."""
    if not row.active:
        return window, None
    place = log.next
    query = {"offset": place.offset, "after": place.line, "encoding": place.form.encoding, "stored": row.log_stored}
    prefixes = {name: "1" for name in ("stamped", "named") if getattr(place.form, name)}
    more = More(
        open=[line for line in window.lines if line.number > place.line],
        url=with_query(reverse("run-log", args=[row.pk]), **query, **prefixes),
    )
    return replace(window, lines=[line for line in window.lines if line.number <= place.line]), more


def _place(request: HttpRequest) -> Place:
    """The place that a page names. Raises BadParameter."""
    encoding = request.GET.get("encoding", "") or ENCODINGS[0]
    if encoding not in ENCODINGS:
        raise BadParameter({"encoding": [_("Must be one of: %(names)s.") % {"names": ", ".join(ENCODINGS)}]})
    form = Form(encoding, bool(request.GET.get("stamped")), bool(request.GET.get("named")))
    return Place(_number(request, "offset"), _number(request, "after"), form)


@require_safe
@answered
def run_log_raw(_request: HttpRequest, run_id: str) -> HttpResponseBase:
    """The stored bytes, as they came, as a file. Never shown by the browser."""
    row = Run.objects.of_id(run_id)
    if row is None:
        raise NotThere(_("No run %(id)s.") % {"id": run_id[:64]})
    response = StreamingHttpResponse(_chunks(row), content_type="text/plain")
    response.headers["Content-Disposition"] = f'attachment; filename="gpudash-run-{row.pk}.log"'
    response.headers["X-Content-Type-Options"] = "nosniff"
    return response


def _chunks(row: Run) -> Iterator[bytes]:
    rows = LogChunk.objects.filter(run=row).order_by("offset").values_list("data", flat=True)
    for data in rows.iterator(chunk_size=8):
        yield bytes(data)


def log_panel(request: HttpRequest, row: Run) -> LogPanel:
    """What the page shows at first, by its parameters: ?view=, ?line=, ?from=, ?find=. Raises BadParameter."""
    log = _log(row)
    search = request.GET.get("find", "")[:LONGEST_SEARCH].replace("\0", "")
    line, start = _number(request, "line"), _number(request, "from")
    view = _view(request, row, log, bool(line or start))
    window, more = _window(log, view, search, line, start), None
    why_empty = "" if window.lines else _why_empty(row, view, search)
    whole = view in ("all", "tail") and not search
    earlier_url = _page_url(request, max(1, window.begin - MOST_LINES)) if whole and window.before else ""
    later_url = _page_url(request, window.end + 1) if whole and window.after else ""
    if view == "tail" and not search:
        window, more = _split(row, log, window)
    return LogPanel(
        window=window,
        view="search" if search else view,
        search=search,
        why_empty=why_empty,
        more=more,
        chips=_chips(row, log, "search" if search else view),
        earlier_url=earlier_url,
        later_url=later_url,
        marked=line,
        searched=bool(search) or row.active or log.last > SHORT,
    )


def _view(request: HttpRequest, row: Run, log: Log, placed: bool) -> str:
    asked = request.GET.get("view", "")
    if asked not in ("", *VIEWS):
        raise BadParameter({"view": [_("Must be one of: %(names)s.") % {"names": ", ".join(VIEWS)}]})
    if placed:
        return "all"
    if asked == "evidence" and not log.evidence_lines:
        return "all"
    return asked or ("tail" if row.active else "evidence" if log.evidence_lines and log.last > SHORT else "all")


def _window(log: Log, view: str, search: str, line: int, start: int) -> Window:
    if search:
        return log.search(search)
    if line:
        return log.around(line)
    if view == "evidence":
        return log.evidence()
    return log.ending(log.last) if view == "tail" else log.starting(start or 1)


def _why_empty(row: Run, view: str, search: str) -> str:
    if search:
        return _("No line contains “%(text)s”.") % {"text": search}
    if row.log_pruned_at is not None:
        return _("The log was deleted after its retention time. Verdict and measurements are kept.")
    if row.active:
        return _("No lines yet. New lines appear here.")
    return (
        _("The log is empty.")
        if row.log_complete
        else _("No log stored: the container wrote none, or the log could not be read.")
    )


def _chips(row: Run, log: Log, view: str) -> list[tuple[str, str, bool]]:
    """The ways to look at it. None for a log without lines; how many there are is not said while more come."""
    if row.active:
        named = [("all", _("All lines")), ("tail", _("Live"))]
    elif log.last:
        whole = ngettext("%(n)s line", "All %(n)s lines", log.last) % {"n": f"{log.last:,}"}
        named = [("evidence", _("Evidence"))] if log.evidence_lines else []
        named += [("all", whole), *([("tail", _("End"))] if log.last > SHORT else [])]
    else:
        named = []
    page = reverse("run", args=[row.pk])
    return [(title, with_query(page, view=name) + "#log", view == name) for name, title in named]


def _page_url(request: HttpRequest, start: int) -> str:
    return state_url(request, line=None, find=None, view="all", **{"from": str(start)}) + "#log"


def _number(request: HttpRequest, name: str) -> int:
    """A parameter as a number from 0 on; 0 without it. Raises BadParameter."""
    text = request.GET.get(name, "")
    if not text:
        return 0
    if not (text.isascii() and text.isdigit() and len(text) < 12):
        raise BadParameter({name: [_("Must be a line number.")]})
    return int(text)


def evidence_of(row: Run) -> set[int]:
    """The lines that the verdict rests on. Nothing is parsed here: the proof of a pass is kept with it."""
    found = {reason["line"] for reason in reasons_of(row.reasons) if reason["line"]}
    return found | ({row.evidence_line} if row.evidence_line else set())
