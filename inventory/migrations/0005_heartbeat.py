from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('inventory', '0004_launcher_kubeconfig'),
    ]

    operations = [
        migrations.CreateModel(
            name='Heartbeat',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('role', models.CharField(choices=[('schedule', 'schedule (beat)'), ('tasks', 'tasks worker (queue default)'), ('watch', 'watch worker (queue watch)')], max_length=16, unique=True)),
                ('beat_at', models.DateTimeField()),
            ],
        ),
    ]
