"""Free-text search over who holds what: an index of trigrams, where PostgreSQL may have the extension pg_trgm.

It is trusted since PostgreSQL 13, so the owner of the database may create it. Where that is not allowed, the search reads all rows
as before, and this says what to do. SQLite has no such index and needs none at its size.
"""

import sys

from django.db import DatabaseError, migrations, transaction

#: As `icontains` asks for them. What has ended is history: it is found by its node, pod or card.
_COLUMNS = ("pod", "namespace", "owner_name", "node_name")
_INDEX = "CREATE INDEX IF NOT EXISTS allocations_search ON inventory_allocation USING gin ({}) WHERE ended_at IS NULL".format(
    ", ".join(f"UPPER({column}::text) gin_trgm_ops" for column in _COLUMNS)
)


def create(apps, schema_editor):
    connection = schema_editor.connection
    if connection.vendor != "postgresql":
        return
    try:
        with transaction.atomic(using=connection.alias), connection.cursor() as cursor:
            cursor.execute("CREATE EXTENSION IF NOT EXISTS pg_trgm")
            cursor.execute(_INDEX)
    except DatabaseError as error:
        reason = " ".join(str(error).split())
        text = (
            f"\nThe search goes on without its index, and is slower in a large cluster: {reason}\n"
            f"To have it, an administrator of the database runs: CREATE EXTENSION IF NOT EXISTS pg_trgm; {_INDEX};\n"
        )
        sys.stderr.write(text)


def drop(apps, schema_editor):
    """The extension stays: others may use it."""
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute("DROP INDEX IF EXISTS allocations_search")


class Migration(migrations.Migration):

    dependencies = [
        ('inventory', '0006_dispatch'),
    ]

    operations = [
        migrations.RunPython(create, drop),
    ]
