"""The pages of the inventory, one module per page; they read through `inventory.querysets` and `inventory.totals` alone."""
