"""What is measured, beside others: `python -m benchmarks` lists it."""
