"""Notifications: channels, rules that say which topics go to which channel, deliveries with their answers, and silences."""
