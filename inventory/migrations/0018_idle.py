import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('inventory', '0017_usage'),
    ]

    operations = [
        migrations.CreateModel(
            name='IdleLook',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('looked_at', models.DateTimeField()),
                ('window_s', models.FloatField()),
                ('verdicts', models.JSONField(default=dict)),
                ('cluster', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='idle_look', to='inventory.cluster')),
            ],
        ),
        migrations.CreateModel(
            name='IdleHold',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('node_name', models.CharField(max_length=253)),
                ('namespace', models.CharField(max_length=253)),
                ('owner_name', models.CharField(blank=True, max_length=253)),
                ('model', models.CharField(blank=True, max_length=128)),
                ('idle_since', models.DateTimeField()),
                ('sureness', models.CharField(choices=[('sure', 'sure'), ('likely', 'likely')], max_length=8)),
                ('measure', models.CharField(max_length=64)),
                ('memory_bytes', models.BigIntegerField(null=True)),
                ('cards', models.FloatField(null=True)),
                ('memory_used_bytes', models.BigIntegerField(null=True)),
                ('byte_seconds', models.FloatField(null=True)),
                ('card_seconds', models.FloatField(null=True)),
                ('written_at', models.DateTimeField()),
                ('allocation', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='idle', to='inventory.allocation')),
                ('cluster', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to='inventory.cluster')),
            ],
            options={
                'indexes': [models.Index(fields=['-byte_seconds', 'id'], name='idle_by_memory'), models.Index(fields=['-card_seconds', 'id'], name='idle_by_cards'), models.Index(fields=['cluster', 'namespace'], name='idle_of_a_namespace')],
            },
        ),
    ]
