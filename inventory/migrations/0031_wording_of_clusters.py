from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("inventory", "0030_owner_days"),
    ]

    operations = [
        migrations.AddField(
            model_name="cluster",
            name="uid_wording",
            field=models.JSONField(null=True),
        ),
    ]
