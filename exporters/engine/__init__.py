"""The machinery of reading exporters. It knows no exporter by name."""
