"""A run among the others of its pool: a dot for the last pass of each target, the median, and what is no outlier yet."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from django.utils.translation import gettext as _

from pages.charts import plot
from pages.charts.plot import Chart, Line, Scale
from pages.sections import series
from pages.sections.measured import figure
from pages.words.names import plain
from validations import baseline, pool_baseline
from validations.models import Measurement, Run
from validations.pool_baseline import spread_of
from validations.spread import Spread

_LEVELS = 4
#: Columns of runs that no dot needs.
_LARGE = ("manifest", "facts", "node_snapshot", "options")


def pool_chart(run: Run) -> Chart | None:
    """The measurement that is an outlier, else the first that has a baseline of its pool. None without. Three queries."""
    judged = [(row, of) for row in run.measurements.all() if (of := spread_of(row)) is not None]
    if not judged or run.ended_at is None:
        return None
    row, of = next((one for one in judged if baseline.is_odd(one[0].value, one[0].unit, one[1])), judged[0])
    others = Measurement.objects.filter(run_id__in=pool_baseline.pool_passes(run), name=row.name, unit=row.unit)
    rows = others.select_related("run").defer(*(f"run__{name}" for name in _LARGE)).order_by("run__ended_at", "id")
    return chart(row, of, run.ended_at, [(one, at) for one in rows if (at := one.run.ended_at) is not None])


def chart(own: Measurement, of: Spread, ended: datetime, others: Sequence[tuple[Measurement, datetime]]) -> Chart:
    """Pure. ended: of the run itself. others: oldest first."""
    edges = (of.median - of.allowed, of.median + of.allowed)
    low, high = series.axis([own.value, *edges, *(row.value for row, _at in others)])
    scale = Scale(others[0][1] if others else ended, ended, low, high)
    values = [low + (high - low) * number / _LEVELS for number in range(_LEVELS + 1)]
    looks = "own warning" if baseline.is_odd(own.value, own.unit, of) else "own"
    title = f"{plain(own.name)}, {own.unit}"
    drawn = plot.plot(
        scale,
        [Line("used", [(scale.begin, of.median), (scale.end, of.median)])],
        [(value, figure(value)) for value in values],
        tall=160,
        title=title,
        dots=[*(plot.dot(scale, at, row.value, "") for row, at in others), plot.dot(scale, ended, own.value, looks)],
        bands=[plot.band(scale, scale.begin, scale.end, "usual", _("not an outlier"), edges)],
    )
    readings = [(scale.x(at), series.words(row, at)) for row, at in others]
    label = _("%(name)s: this run and the last pass of %(n)s other targets of its pool") % {
        "name": title,
        "n": of.targets,
    }
    own_words = "\n".join((_("This run"), f"{figure(own.value)} {own.unit}"))
    return Chart("pool-values", label, [drawn], plot.ticks(scale), [*readings, (scale.x(ended), own_words)])
