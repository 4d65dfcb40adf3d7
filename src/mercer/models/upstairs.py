"""What a model can do with itself as a whole. The work is done by rooms above, which are asked when it is to be done.

This is the one module that looks upwards: users expect a method, and the rooms that keep and draw models know all of
them. Each import stands in the method that needs it.
"""

from pathlib import Path
from typing import Any


class WithRoomsAbove:
    """A fitted model that can be handed to the rooms that keep models and draw them."""

    def save(self, path: str | Path, notes: dict[str, Any] | None = None) -> Path:
        """Write the fitted model to one file, from which `mercer.load` makes it again.

        Parameters
        ----------
        path : path
            The file, by custom with the ending .mercer.
        notes : dict, default=None
            Anything that JSON can say, to travel along.

        Returns
        -------
        path : pathlib.Path
            Where it is.

        See Also
        --------
        mercer.save : The same, with all that is to be said about it.
        """
        from mercer.store.files import save

        return save(self, path, notes)
