"""Free-text search over who holds what now. What has ended is history: it is found by its node, pod or card."""

from django.db import migrations

from inventory.trigrams import index


class Migration(migrations.Migration):

    dependencies = [
        ('inventory', '0006_dispatch'),
    ]

    operations = [
        index(
            'allocations_search',
            'inventory_allocation',
            ('pod', 'namespace', 'owner_name', 'node_name'),
            where='ended_at IS NULL',
            without='The search goes on without its index, and is slower in a large cluster',
        ),
    ]
