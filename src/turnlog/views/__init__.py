"""Views: pure functions over events. No file, no clock, no database."""
