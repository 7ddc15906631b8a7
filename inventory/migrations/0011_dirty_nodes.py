"""The queue of nodes whose objects changed gets the name of what is in it. The rows stay."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("inventory", "0010_history")]

    operations = [
        migrations.RenameModel(old_name="Recount", new_name="DirtyNode"),
        migrations.RenameIndex(model_name="dirtynode", new_name="dirty_nodes_in_order", old_name="recounts_in_order"),
    ]
