from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("inventory", "0031_wording_of_clusters"),
    ]

    operations = [
        migrations.AddField(
            model_name="watch",
            name="audit_wording",
            field=models.JSONField(null=True),
        ),
        migrations.AddField(
            model_name="watch",
            name="reason_wording",
            field=models.JSONField(null=True),
        ),
        migrations.AddField(
            model_name="watch",
            name="relist_wording",
            field=models.JSONField(null=True),
        ),
    ]
