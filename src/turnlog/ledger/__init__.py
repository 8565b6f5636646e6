"""Accounting: the work of all files, each piece once, with its evidence."""
