from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("inventory", "0011_dirty_nodes")]

    operations = [migrations.RenameModel("NodeAccount", "NodeTotals")]
