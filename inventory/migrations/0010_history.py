"""Free-text search over what was held before: the index of trigrams of 0007, for history.

As there: where the extension pg_trgm is not allowed the search reads all rows, and this says what to do. On 18 million rows it
takes some minutes, during which nothing is written to the table.
"""

import sys

from django.db import DatabaseError, migrations, transaction

_COLUMNS = ("pod", "namespace", "owner_name", "node_name")
_INDEX = (
    "CREATE INDEX IF NOT EXISTS allocations_ended_search ON inventory_allocation USING gin ({}) WHERE ended_at IS NOT NULL"
).format(", ".join(f"UPPER({column}::text) gin_trgm_ops" for column in _COLUMNS))


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
            f"\nThe search of history goes on without its index, and is slow when there is much: {reason}\n"
            f"To have it, an administrator of the database runs: CREATE EXTENSION IF NOT EXISTS pg_trgm; {_INDEX};\n"
        )
        sys.stderr.write(text)


def drop(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute("DROP INDEX IF EXISTS allocations_ended_search")


class Migration(migrations.Migration):

    dependencies = [
        ('inventory', '0009_retention'),
    ]

    operations = [
        migrations.RunPython(create, drop),
    ]
