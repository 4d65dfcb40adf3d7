"""Tests that reach into the first edition; each is deleted with the code that it tests."""
