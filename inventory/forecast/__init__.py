"""What will be free: `method` (pure) forecasts a series of daily values, `pools` reads those of pools."""
