"""What tests share: the classes to loop over, slow twins, strategies, and the command line in forks of a test."""
