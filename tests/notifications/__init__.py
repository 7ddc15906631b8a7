"""Tests of `notifications`, and of its endpoints."""
