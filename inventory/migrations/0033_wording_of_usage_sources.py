from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("inventory", "0032_wording_of_watches"),
    ]

    operations = [
        migrations.AddField(
            model_name="usagesource",
            name="wording",
            field=models.JSONField(null=True),
        ),
    ]
