"""The speed ledger: fixed cases, each as a ratio to a yardstick that is measured in the same process."""
