"""What a model can do with itself as a whole. The work is done by rooms above, which are asked when it is to be done.

This is the one module that looks upwards: users expect a method, and the rooms that keep and draw models know all of
them. Each import stands in the method that needs it.
"""


class WithRoomsAbove:
    """A fitted model that can be handed to the rooms that keep models and draw them."""
