"""Driving agents while they run: a program's output drained and kept, its verdict, and a client of the RPC mode."""
