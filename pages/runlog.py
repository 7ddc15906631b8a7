"""The log of a run: windows of its lines for the page, new lines while it comes, and the raw bytes to save."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from pages.frame.links import state_url
from pages.frame.refusals import BadParameter, NotThere, answered
from pages.logwindow import MOST_LINES, Log, Window
from pages.run_lines import reasons_of
from validations import logstore
from validations.models import LogChunk, Run, State

VIEWS = ("evidence", "all", "tail")
LONGEST_SEARCH = 200
_BIGGEST = 10**9


@dataclass(frozen=True)
class LogPanel:
    """The log as the page shows it. view: evidence, all, tail or search. why_empty: why there is no line, "" where there is one."""

    window: Window
    view: str
    search: str
    last: int
    stored: int
    open_end: bool
    why_empty: str
    follows: bool
    chips: list[tuple[str, str, bool]]
    earlier_url: str
    later_url: str
    marked: int


@require_safe
@answered
def run_log(request: HttpRequest, run_id: str) -> HttpResponseBase:
    """Lines after `after`, for the page to append. 204 when the log is still as long as `stored` says."""
    row = Run.objects.of_id(run_id)
    if row is None:
        raise NotThere(_("There is no run %(id)s.") % {"id": run_id[:64]})
    after, stored = _number(request, "after"), _number(request, "stored")
    if stored == row.log_stored and row.state != State.ENDED:
        return HttpResponse(status=204)
    log = log_of(row)
    window = log.starting(after + 1) if log.last - after <= MOST_LINES else log.ending(log.last)
    response = render(request, "validations/log_lines.html", {"window": window, "skipped": window.begin > after + 1})
    complete = log.last - 1 if log.open_end and row.state != State.ENDED else log.last
    sent = min(window.end, complete) if window.lines else min(after, complete)
    response.headers["X-Log-Last"] = str(max(sent, 0))
    response.headers["X-Log-Stored"] = str(row.log_stored)
    response.headers["X-Log-Ended"] = "true" if row.state == State.ENDED and not window.after else "false"
    response.headers["X-Log-Proof"] = ",".join(str(number) for number in sorted(log.proofs)[:50])
    response.headers["Cache-Control"] = "private, no-store"
    return response


@require_safe
@answered
def run_log_raw(_request: HttpRequest, run_id: str) -> HttpResponseBase:
    """The stored bytes, as they came, as a file. Never shown by the browser."""
    row = Run.objects.of_id(run_id)
    if row is None:
        raise NotThere(_("There is no run %(id)s.") % {"id": run_id[:64]})
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
    log = log_of(row)
    search = request.GET.get("find", "")[:LONGEST_SEARCH].replace("\0", "")
    line, start = _number(request, "line"), _number(request, "from")
    view = _view(request, row, log, bool(line or start))
    window = _window(log, view, search, line, start)
    whole = view in ("all", "tail") and not search
    return LogPanel(
        window=window,
        view="search" if search else view,
        search=search,
        last=log.last,
        stored=row.log_stored,
        open_end=log.open_end,
        why_empty="" if window.lines else _why_empty(row, view, search),
        follows=row.active and view == "tail" and not search,
        chips=_chips(request, row, log, "search" if search else view),
        earlier_url=_page_url(request, max(1, window.begin - MOST_LINES)) if whole and window.before else "",
        later_url=_page_url(request, window.end + 1) if whole and window.after else "",
        marked=line,
    )


def _view(request: HttpRequest, row: Run, log: Log, placed: bool) -> str:
    asked = request.GET.get("view", "")
    if asked not in ("", *VIEWS):
        raise BadParameter({"view": [_("One of %(names)s is wanted.") % {"names": ", ".join(VIEWS)}]})
    if placed:
        return "all"
    if asked == "evidence" and not log.proofs:
        return "all"
    return asked or ("tail" if row.active else "evidence" if log.proofs else "all")


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
        return _("No line holds “%(text)s”.") % {"text": search}
    if row.log_pruned_at is not None:
        return _("The log was deleted when its time was over; the verdict and the measurements are kept.")
    if row.active:
        return _("No line yet. They appear here as they come.")
    return (
        _("The log is empty.")
        if row.log_complete
        else _("No log was stored: the container never wrote one, or it could not be read.")
    )


def _chips(request: HttpRequest, row: Run, log: Log, view: str) -> list[tuple[str, str, bool]]:
    plain: dict[str, str | None] = {"line": None, "from": None, "find": None}
    chips = []
    if log.proofs:
        chips.append((_("evidence"), state_url(request, **plain | {"view": "evidence"}), view == "evidence"))
    chips.append(
        (_("all %(n)s lines") % {"n": f"{log.last:,}"}, state_url(request, **plain | {"view": "all"}), view == "all")
    )
    title = _("live") if row.active else _("end")
    chips.append((title, state_url(request, **plain | {"view": "tail"}), view == "tail"))
    return [(title, f"{url}#log", current) for title, url, current in chips]


def _page_url(request: HttpRequest, start: int) -> str:
    return state_url(request, line=None, find=None, view="all", **{"from": str(start)}) + "#log"


def _number(request: HttpRequest, name: str) -> int:
    """A parameter as a number from 0 on; 0 without it. Raises BadParameter."""
    text = request.GET.get(name, "")
    if not text:
        return 0
    if not (text.isascii() and text.isdigit() and len(text) < 12):
        raise BadParameter({name: [_("A line number is wanted.")]})
    return min(int(text), _BIGGEST)


def log_of(row: Run) -> Log:
    """The stored log, with the lines that the verdict rests on. Nothing is parsed here: the proof of a pass is kept with it."""
    log = Log(logstore.whole(row))
    found = {reason["line"] for reason in reasons_of(row.reasons) if reason["line"]}
    log.mark(found | ({row.proof_line} if row.proof_line else set()))
    return log
