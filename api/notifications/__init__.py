"""Channels, rules, deliveries and silences over REST."""
