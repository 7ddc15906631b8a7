"""PostgreSQL cleans the tables that change most before a fifth of their rows is dead, which is its default."""

from __future__ import annotations

from typing import Any

from django.db import migrations

#: Table → storage parameters. Shares of its rows: of 18 million allocations a fifth would be 18 days of deletions, which lists
#: would step over; pods change all day, and each of their pages holds few rows. inventory_recount and inventory_watch are small:
#: the default's 50 rows decide there, and their cleaning costs nothing.
SETTINGS = {
    "inventory_allocation": {
        "autovacuum_vacuum_scale_factor": "0.01",
        "autovacuum_vacuum_insert_scale_factor": "0.02",
        "autovacuum_analyze_scale_factor": "0.01",
    },
    "inventory_pod": {"autovacuum_vacuum_scale_factor": "0.05", "autovacuum_analyze_scale_factor": "0.05"},
    "inventory_card": {"autovacuum_vacuum_scale_factor": "0.05"},
    "inventory_nodeaccount": {"autovacuum_vacuum_scale_factor": "0.05"},
    "inventory_finding": {"autovacuum_vacuum_scale_factor": "0.05"},
}


def set_all(apps: Any, schema_editor: Any) -> None:
    if schema_editor.connection.vendor == "postgresql":
        for table, parameters in SETTINGS.items():
            shown = ", ".join(f"{name} = {value}" for name, value in parameters.items())
            schema_editor.execute(f"ALTER TABLE {table} SET ({shown})")


def reset_all(apps: Any, schema_editor: Any) -> None:
    if schema_editor.connection.vendor == "postgresql":
        for table, parameters in SETTINGS.items():
            schema_editor.execute(f"ALTER TABLE {table} RESET ({', '.join(parameters)})")


class Migration(migrations.Migration):
    dependencies = [('inventory', '0008_audit')]

    operations = [migrations.RunPython(set_all, reset_all)]
