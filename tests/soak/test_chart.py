"""The chart: what is drawn where, and that it is a whole document."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from tests.soak.chart import MOST_POINTS, Mark, Panel, nice, page, panels, pieces, thinned
from tests.soak.test_checks import SESSIONS, sample


def drawn(html: str) -> ElementTree.Element:
    return ElementTree.fromstring(html[html.index("<svg") : html.index("</svg>") + 6])


@pytest.mark.parametrize(("value", "scale"), [(0.0, 1), (1.0, 1), (1.2, 2), (7.0, 10), (130.0, 200), (2001.0, 5000)])
def test_a_scale_ends_at_a_round_number(value: float, scale: float) -> None:
    assert nice(value) == scale


def test_a_peak_is_not_thinned_away() -> None:
    points: list[tuple[float, float | None]] = [(float(t), 9.0 if t == 1234 else 1.0) for t in range(5000)]
    kept = thinned(points)
    assert len(kept) <= MOST_POINTS
    assert (1234.0, 9.0) in kept


def test_what_is_not_known_is_a_gap() -> None:
    assert pieces([(0.0, 1.0), (1.0, None), (2.0, 3.0)]) == [[(0.0, 1.0)], [(2.0, 3.0)]]


def test_a_page_draws_every_series_and_every_fault() -> None:
    rows = [sample(float(t), lag=t / 10, **SESSIONS) for t in range(100)]
    shown = panels(rows)
    html = page("Soak <1>", "all well", shown, [Mark(20.0, 35.0, "freeze web-1"), Mark(40.0, 40.0, "compaction")])
    svg = drawn(html)
    lines = [element for element in svg if element.get("class", "").startswith("line")]
    assert len(lines) == sum(len(panel.series) for panel in shown)
    texts = [element.text for element in svg if element.tag == "text"]
    assert {"freeze web-1", "compaction", "web-1", "Memory of each service (MiB)"} <= set(texts)
    assert "Soak &lt;1&gt;" in html
    assert "prefers-color-scheme:dark" in html
    assert "<script" not in html


def test_points_lie_where_their_values_say() -> None:
    svg = drawn(page("t", "", [Panel("p", "", {"a": [(0.0, 0.0), (10.0, 10.0)]})], []))
    (line,) = [element for element in svg if element.get("class", "").startswith("line")]
    (x0, y0), (x1, y1) = (map(float, pair.split(",")) for pair in line.get("points", "").split())
    assert x0 < x1
    assert y0 > y1


def test_nothing_to_draw_is_a_page_too() -> None:
    drawn(page("t", "", panels([]), []))
