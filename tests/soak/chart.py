"""The chart of a soak: memory, queues, lag, load and connections over time with the faults as marks, as one HTML file. Pure.

Plain SVG with CSS for light and dark; no script, nothing from elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, NamedTuple

Json = dict[str, Any]
#: None: not known then; the line has a gap.
Series = Mapping[str, Sequence[tuple[float, float | None]]]
WIDTH, HEIGHT, LEFT, RIGHT, GAP, HEAD = 1160, 150, 56, 16, 58, 86
MOST_POINTS = 600
_SESSIONS = ("connections", "waiting", "oldest_transaction_s")
LIGHT = ("#0b62a8", "#b3480f", "#14784f", "#8a3d91", "#8a6d00", "#b3244d", "#3c6fd1", "#5b5b5b")
DARK = ("#6cb6ff", "#ff9e64", "#63d297", "#d79bdc", "#e3c24b", "#ff8fa9", "#a9c4ff", "#b9b9b9")


class Mark(NamedTuple):
    """A fault: from, until (seconds), and its name."""

    began: float
    ended: float
    name: str


class Panel(NamedTuple):
    title: str
    unit: str
    series: Series


def panels(rows: Sequence[Json]) -> list[Panel]:
    """What is shown of the samples."""
    return [
        Panel("Memory of each service", "MiB", _memory(rows)),
        Panel("Messages in the queues", "", _named(rows, "queues")),
        Panel("How far the tables are behind the cluster", "s", _lag(rows)),
        Panel("Changes in the cluster", "a second", {"changes": [(row["t"], row["events"]) for row in rows]}),
        Panel("Database connections", "", {name: [(row["t"], row[name]) for row in rows] for name in _SESSIONS}),
    ]


def _memory(rows: Sequence[Json]) -> Series:
    names = list(rows[0]["processes"]) if rows else []
    return {
        name: [(row["t"], sum(one["resident_mib"] for one in row["processes"].get(name, [])) or None) for row in rows]
        for name in names
    }


def _named(rows: Sequence[Json], what: str) -> Series:
    names = next((list(row[what]) for row in rows if row[what]), [])
    return {name: [(row["t"], (row[what] or {}).get(name)) for row in rows] for name in names}


def _lag(rows: Sequence[Json]) -> Series:
    names = next((list(row["lag_s"]) for row in rows if row["lag_s"]), [])
    return {
        name: [(row["t"], max(row["lag_s"][name].values()) if row["lag_s"] else None) for row in rows] for name in names
    }


def page(title: str, summary: str, shown: Sequence[Panel], marks: Sequence[Mark]) -> str:
    """The whole file. summary: one line below the title."""
    moments = [moment for panel in shown for points in panel.series.values() for moment, _ in points]
    end = max([*moments, *(mark.ended for mark in marks), 1.0])
    height = HEAD + len(shown) * (HEIGHT + GAP) + 24
    body = [_panel(panel, HEAD + number * (HEIGHT + GAP), end) for number, panel in enumerate(shown)]
    drawn = "\n".join([_marks(marks, end, height), *body, _axis(end, height)])
    return (
        f'<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>{escape(title)}</title>\n<style>{_css()}</style>\n'
        f"<h1>{escape(title)}</h1>\n<p>{escape(summary)}</p>\n"
        f'<svg viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img" aria-label="{escape(title)}">\n'
        f"{drawn}\n</svg>\n</html>\n"
    )


def _css() -> str:
    def colours(values: Sequence[str]) -> str:
        return "".join(f"--s{number}:{value};" for number, value in enumerate(values))

    drawn = "".join(f".s{i}{{stroke:var(--s{i})}}text.s{i},rect.s{i}{{fill:var(--s{i});stroke:none}}" for i in range(8))
    return (
        ":root{color-scheme:light dark;--paper:#fff;--ink:#1b1b1b;--faint:#c9c9c9;--fault:#d8282820;--edge:#b32424;"
        f"{colours(LIGHT)}}}@media (prefers-color-scheme:dark){{:root{{--paper:#15171a;--ink:#e8e8e8;--faint:#45484d;"
        f"--fault:#ff6b6b26;--edge:#ff8a8a;{colours(DARK)}}}}}"
        "body{margin:24px;background:var(--paper);color:var(--ink);font:14px/1.5 system-ui,sans-serif}"
        "h1{font-size:20px;margin:0}p{margin:4px 0 12px}svg{max-width:100%;height:auto}"
        "text{fill:var(--ink);font:12px system-ui,sans-serif}.title{font-weight:600;font-size:13px}.small{font-size:10px}"
        ".grid{stroke:var(--faint);stroke-width:1}.line{fill:none;stroke-width:1.5;stroke-linejoin:round}"
        f".fault{{fill:var(--fault)}}.edge{{stroke:var(--edge);stroke-width:1}}.cause{{fill:var(--edge);font-size:10px}}{drawn}"
    )


def _x(moment: float, end: float) -> float:
    return LEFT + moment / end * (WIDTH - LEFT - RIGHT)


def _panel(panel: Panel, top: int, end: float) -> str:
    known = [value for points in panel.series.values() for _, value in points if value is not None]
    most = nice(max(known, default=1.0))
    unit = f" ({panel.unit})" if panel.unit else ""
    parts = [f'<text class="title" x="{LEFT}" y="{top - 22}">{escape(panel.title)}{unit}</text>']
    for share in (0.0, 0.5, 1.0):
        y = top + HEIGHT * (1 - share)
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{most * share:g}</text>')
    for number, (name, points) in enumerate(panel.series.items()):
        x = LEFT + 130 * number
        parts.append(f'<rect class="s{number % 8}" x="{x}" y="{top - 15}" width="10" height="3"/>')
        parts.append(f'<text x="{x + 14}" y="{top - 10}">{escape(name)}</text>')
        for piece in pieces(thinned(points)):
            drawn = " ".join(f"{_x(t, end):.1f},{top + HEIGHT * (1 - v / most):.1f}" for t, v in piece)
            parts.append(f'<polyline class="line s{number % 8}" points="{drawn}"/>')
    return "\n".join(parts)


def nice(value: float) -> float:
    """The next of 1, 2, 5 × 10ⁿ; 1 at least."""
    step = 1.0
    while step < value:
        for factor in (2.0, 5.0, 10.0):
            if step * factor >= value:
                return step * factor
        step *= 10.0
    return step


def thinned(points: Sequence[tuple[float, float | None]]) -> list[tuple[float, float | None]]:
    """At most MOST_POINTS: of neighbours the highest, so that no peak is lost; a gap stays one."""
    size = -(-len(points) // MOST_POINTS) if points else 1
    groups = [points[start : start + size] for start in range(0, len(points), size)]
    return [max(group, key=lambda point: float("inf") if point[1] is None else point[1]) for group in groups]


def pieces(points: Sequence[tuple[float, float | None]]) -> list[list[tuple[float, float]]]:
    """Without the gaps."""
    found: list[list[tuple[float, float]]] = [[]]
    for moment, value in points:
        if value is None:
            found.append([])
        else:
            found[-1].append((moment, value))
    return [piece for piece in found if piece]


def _marks(marks: Sequence[Mark], end: float, height: int) -> str:
    parts = []
    for number, mark in enumerate(marks):
        x, width = _x(mark.began, end), max(1.0, _x(mark.ended, end) - _x(mark.began, end))
        y = 10 + number % 4 * 11
        parts.append(f'<rect class="fault" x="{x:.1f}" y="{y}" width="{width:.1f}" height="{height - 34 - y}"/>')
        parts.append(f'<line class="edge" x1="{x:.1f}" x2="{x:.1f}" y1="{y - 8}" y2="{height - 24}" opacity=".35"/>')
        parts.append(f'<text class="cause" x="{x + 2:.1f}" y="{y}">{escape(mark.name)}</text>')
    return "\n".join(parts)


def _axis(end: float, height: int) -> str:
    step = nice(end / 12)
    ticks = [step * number for number in range(int(end / step) + 1)]
    return "\n".join(
        f'<text x="{_x(tick, end):.1f}" y="{height - 8}" text-anchor="middle">{tick:g} s</text>' for tick in ticks
    )


def picture(html: str, file: str, chromium: str) -> None:
    """The page as a PNG, by Playwright's Chromium."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        opened = browser.new_page(viewport={"width": WIDTH + 60, "height": 900})
        opened.set_content(html)
        opened.screenshot(path=file, full_page=True)
        browser.close()
