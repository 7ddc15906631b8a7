from importlib import import_module

from django.db import migrations, models

#: The images that the suites brought, which have not changed since then; the others chose theirs by the node, when none was given.
IMAGES = import_module("validations.migrations.0003_levels_and_cards").IMAGES
AT_ONCE = 500


def mark_others(apps, _editor):
    """Runs that were given an image other than their suite's."""
    Run = apps.get_model("validations", "Run")
    given = Run.objects.filter(options__has_key="image").values_list("pk", "suite", "options")
    others = []
    for pk, suite, options in given.iterator(5000):
        image = options.get("image") if isinstance(options, dict) else ""
        if image and image != IMAGES.get(suite):
            others.append(pk)
    for start in range(0, len(others), AT_ONCE):
        Run.objects.filter(pk__in=others[start : start + AT_ONCE]).update(own_image=False)


class Migration(migrations.Migration):

    dependencies = [
        ('validations', '0007_launcher_lease'),
    ]

    operations = [
        migrations.AddField(
            model_name='run',
            name='own_image',
            field=models.BooleanField(db_default=True, default=True),
        ),
        migrations.RunPython(mark_others, migrations.RunPython.noop, elidable=True),
    ]
