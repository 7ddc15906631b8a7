from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("inventory", "0034_wording_of_the_past"),
    ]

    operations = [
        migrations.RemoveIndex(
            model_name="card",
            name="cards_by_state",
        ),
        migrations.AddIndex(
            model_name="card",
            index=models.Index(
                condition=models.Q(("gone_at", None)),
                fields=["cluster", "state", "kept_off"],
                include=("memory_free_bytes",),
                name="cards_counted",
            ),
        ),
    ]
