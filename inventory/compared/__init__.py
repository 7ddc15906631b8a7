"""What is promised beside what is measured: where the two do not go together. Pure: no Django, no I/O, no clock."""
