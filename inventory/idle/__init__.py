"""What is held without being used: which allocations could be taken back, from whom, and how sure that is."""
