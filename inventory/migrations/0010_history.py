"""Free-text search over what was held before. On 18 million rows it takes some minutes, when nothing is written to the table."""

from django.db import migrations

from inventory.trigrams import index


class Migration(migrations.Migration):

    dependencies = [
        ('inventory', '0009_retention'),
    ]

    operations = [
        index(
            'allocations_ended_search',
            'inventory_allocation',
            ('pod', 'namespace', 'owner_name', 'node_name'),
            where='ended_at IS NOT NULL',
            without='The search of history goes on without its index, and is slow when there is much',
        ),
    ]
