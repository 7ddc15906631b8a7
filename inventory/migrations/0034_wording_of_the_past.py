from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("inventory", "0033_wording_of_usage_sources"),
    ]

    operations = [
        migrations.AddField(
            model_name="historyanswer",
            name="wording",
            field=models.JSONField(null=True),
        ),
    ]
