"""Collectors: they ask a Prometheus, or the exporters themselves, and write what the cards say of themselves."""
