"""Intel's xpumd (XPU Manager 2): OpenTelemetry names. Memory is told for each module, activity for each engine, power and
temperature for each sensor. A state with 1 is the one that is; the states `ecc_…` say how ECC is set and are no fault.

Its power limit is multiplied by 1,000 where it should be divided (power.go), so it is out of range and refused. The names of
XPU Manager 1 (`xpum_*`) are read where units are the same. Source: intel/xpumanager at 34c32c6: xpumd/receiver/intelxpu/sysman,
xpumd/docs, xpumd/charts/xpumd (the ServiceMonitor writes `node`), json/convert-metrics.sh for the names of version 1.
"""

from __future__ import annotations

from exporters.engine import measures as m
from exporters.engine import takes
from exporters.engine.format import Format, Gauge, Identity, Metric, Row, Special, Target
from exporters.engine.holders import NO_PODS
from exporters.engine.identity import NAME_CHARS
from exporters.engine.readings import FAIL, PASS, WARN
from exporters.engine.values import MEGA

#: Which sensors measure the whole card, best first.
_POWER_OF = {"card": 0, "package": 1, "gpu": 2}
_TEMPERATURE_OF = {"gpu": m.TEMPERATURE, "global": m.TEMPERATURE, "memory": m.MEMORY_TEMPERATURE}
_OK = frozenset(("ok", "good", "healthy"))
_BAD = frozenset(("critical", "failed", "replace", "reset_needed"))
_DEVICE = (("hw_memory_location", "device"),)
_MODULE = ("com_intel_subdevice_id", "hw_name")


def _power(row: Row) -> None:
    order = _POWER_OF.get(row.labels.get("hw_sensor_location", ""))
    tile = row.labels.get("com_intel_subdevice_id", "")
    if order is not None and not tile and row.card is not None:
        _put(row, m.POWER, order)


def _temperature(row: Row) -> None:
    """The highest of each place; rows with the statistic "min" say nothing of that."""
    measure = _TEMPERATURE_OF.get(row.labels.get("hw_sensor_location", ""))
    if measure is not None and row.labels.get("statistic", "max") == "max" and row.card is not None:
        _put(row, measure, 0)


def _put(row: Row, measure: m.Measure, order: int) -> None:
    if row.card is None or (row.value == 0 and measure.low > 0):
        return
    value = takes.believed(row, measure)
    if value is not None:
        row.card.put(measure, value, row.at, order << 1)


def _clock(row: Row) -> None:
    """Mean of the time since the last scrape, where it is told."""
    if row.labels.get("aggregation", "avg") == "avg":
        domain = row.labels.get("hw_frequency_domain", "")
        measure = {"gpu": m.SM_CLOCK, "memory": m.MEMORY_CLOCK}.get(domain)
        if measure is not None:
            _put(row, measure, 0)


def _errors(row: Row) -> None:
    """Errors since the driver was loaded, for each category of a tile."""
    measure = {"correctable": m.ECC_CORRECTED, "uncorrectable": m.ECC_UNCORRECTED}.get(row.labels.get("error_type", ""))
    if measure is None or row.card is None or row.labels.get("hw_type", "gpu") != "gpu":
        return
    count = takes.believed(row, measure)
    if count is not None:
        tile, category = row.labels.get("com_intel_subdevice_id", ""), row.labels.get("error_category", "")
        row.card.put(measure, count, row.at, 0, f"errors:{tile[:16]}/{category[:NAME_CHARS]}")


def _status(row: Row) -> None:
    """One row for each state that was ever seen of a part; that with 1 is the one it is in."""
    kind, state = row.labels.get("hw_type", ""), row.labels.get("hw_state", "")
    if row.value != 1 or not kind or not state or state.startswith("ecc_"):
        return
    name = f"{kind}:{row.labels.get('hw_name', '')}".rstrip(":")
    takes.watch(row, name, PASS if state in _OK else FAIL if state in _BAD else WARN, "" if state in _OK else state)


_NEW: dict[str, Metric] = {
    "hw_memory_usage_bytes": Gauge(m.MEMORY_USED, part="module", part_labels=_MODULE, when=_DEVICE),
    "hw_memory_size_bytes": Gauge(m.MEMORY_TOTAL, part="module", part_labels=_MODULE, when=_DEVICE),
    "hw_gpu_utilization_ratio": Gauge(m.UTILIZATION, part="engine", part_labels=_MODULE),
    "hw_memory_bandwidth_utilization_ratio": Gauge(m.DRAM_ACTIVE, part="module", part_labels=_MODULE, when=_DEVICE),
    "hw_temperature_celsius": Special(_temperature, (m.TEMPERATURE, m.MEMORY_TEMPERATURE)),
    "hw_power_watts": Special(_power, (m.POWER,)),
    "hw_power_limit_watts": Gauge(
        m.POWER_LIMIT, when=(("hw_sensor_location", "card"), ("com_intel_power_limit_level", "sustained"))
    ),
    "hw_energy_joules_total": Gauge(m.ENERGY, when=(("hw_sensor_location", "card"),)),
    "hw_frequency_hertz": Special(_clock, (m.SM_CLOCK, m.MEMORY_CLOCK)),
    "hw_errors_total": Special(_errors, (m.ECC_CORRECTED, m.ECC_UNCORRECTED)),
    "hw_status": Special(_status),
    "hw_gpu_info": takes.describes(),
}
_OLD: dict[str, Metric] = {
    "xpum_memory_used_bytes": Gauge(m.MEMORY_USED, dialect="1.x"),
    "xpum_power_watts": Gauge(m.POWER, dialect="1.x"),
    "xpum_engine_ratio": Gauge(m.UTILIZATION, dialect="1.x"),
    "xpum_frequency_mhz": Gauge(m.SM_CLOCK, MEGA, when=(("location", "gpu"),), dialect="1.x"),
}

FORMAT = Format(
    name="intel-xpumd",
    label="Intel XPU Manager",
    metrics={**_NEW, **_OLD},
    identity=Identity(
        uuid=("hw_id",), serial=("hw_serial_number",), pci=("pci_bdf",), index=(), model=("hw_model", "hw_model_name")
    ),
    pods=NO_PODS,
    marks=frozenset(("hw_gpu_info", "hw_gpu_utilization_ratio", "hw_memory_usage_bytes", *_OLD)),
    target=Target(("app.kubernetes.io/name=xpumd",), 8080),
    verified="2 (source and docs at 34c32c6)",
    not_verified="a page of a card; whether xpum_engine_ratio of version 1 is a share; other settings of OpenTelemetry's exporter",
)
