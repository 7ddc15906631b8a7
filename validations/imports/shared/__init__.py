"""What two formats share."""
