"""What several exporters have in common: tables of names that two of them publish."""
