"""What a model can do with itself as a whole. The work is done by rooms above, which are asked when it is to be done.

This is the one module that looks upwards: users expect a method, and the rooms that keep models, draw them and write
their rows know all of them. Each import stands in the method that needs it.
"""

from pathlib import Path
from typing import Any


class WithRoomsAbove:
    """A fitted model that can be handed to the rooms that keep models and draw them."""

    def plot(self, X: Any = None, y: Any = None, *, kind: str | None = None, **options: Any) -> Any:
        """Draw the picture to look at first, or any display that this model has.

        Scores in the plane of the first two components; the scree, where a model keeps no rows and is given none; of a
        detector, T² and Q of every row.

        Parameters
        ----------
        X : array-like, default=None
            The rows; None: those of the fit, where the model has kept them.
        y : array-like of shape (n_samples,), default=None
            Labels of the rows: classes or numbers. None: the first column that `open_rows` was told to read beside
            the rows, its ``label``, if there is one.
        kind : str, default=None
            Another display: "scree", "scores", "biplot", "loadings", "pairs", "circle", "contribution", "cos2",
            "metadata", "novelty", "spectrum", "reconstruction", "field", "preimage", "neighborhood", "eigenimages".
        **options : dict
            Those of the display's ``from_estimator`` and ``plot``, such as ``components=(0, 2)``, ``theme="dark"``.
            ``names`` may be a truth value where rows of a file have names; those of 60 rows at most are drawn unasked.

        Returns
        -------
        display : Display
            It has ``ax_``, ``figure_`` and its numbers, and ``save("picture.svg")``; notebooks show it.
        """
        from mercer_old.displays.kinds import plot

        return plot(self, X, y, kind, options)

    def report(self, X: Any = None, labels: Any = None, *, path: str | Path | None = None, data: str = "") -> str:
        """A page about the fitted model: a map of the rows, components, what is proven, how sure, what next.

        It is one HTML file, light and dark, for paper, phones and screen readers, that asks nothing of the network.
        Whatever comes from the data is shown as text.

        Parameters
        ----------
        X : array-like, pathlib.Path or Rows, default=None
            The rows of the fit, or others to show. None: those of the fit, where the model has kept them; else there
            is no map.
        labels : array-like of shape (n_samples,), mapping or frame, default=None
            Labels of the rows, classes or numbers, to colour them by: one list, or several by name. Columns that
            `open_rows` was told to read beside the rows are there without being named.
        path : path, default=None
            A file whose name ends in .html, to write the page to as well. It appears when it is complete, or not at
            all.
        data : str, default=""
            What the rows are called, for the title. Empty: the name of their file, or X.

        Returns
        -------
        page : str
            The page.
        """
        from mercer_old.report.writing import report_on

        return report_on(self, X, labels, path, name=data or None)

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
        from mercer_old.store.files import save

        return save(self, path, notes)


class WithRowsInFiles:
    """A model whose scores lead back to rows, for more of them than fit into memory."""

    def inverse_transform_to(self, X: Any, path: str | Path | None, with_error: bool = False) -> Path | None:
        """Write the rows (or texts) that scores stand for to a file, block by block.

        Parameters
        ----------
        X : {array-like, pathlib.Path, Rows} of shape (n_samples, n_components)
            The scores. Names of rows, and what a file has beside them, are written along.
        path : path or None
            A .npy, .csv, .parquet, .arrow or .feather file. It appears when it is complete, or not at all. None:
            standard output, as CSV.
        with_error : bool, default=False
            Of kernel PCA: also write how far the image of each row is from what it stands for, as a column "error".

        Returns
        -------
        path : pathlib.Path or None
            Where they are.
        """
        from mercer_old.functions.rows_in_files import as_scores, write_back

        write_back(self, as_scores(X), path, with_error, noisy=False)
        return None if path is None else Path(path)

    def denoise_to(self, X: Any, path: str | Path | None, with_error: bool = False) -> Path | None:
        """Write the rows of X without what lies beside the components to a file, block by block.

        Parameters
        ----------
        X : {array-like, sparse matrix, pathlib.Path, Rows} of shape (n_samples, n_features), or items
            The rows, or texts. Names of rows, and what a file has beside them, are written along.
        path : path or None
            A file as of `inverse_transform_to`. None: standard output, as CSV.
        with_error : bool, default=False
            Also write how far each row is from what it stands for, as a column "error": of PCA the distance between
            both, as far as there are numbers, of kernel PCA that between the images.

        Returns
        -------
        path : pathlib.Path or None
            Where they are.
        """
        from mercer_old.functions.rows_in_files import as_items, write_back

        write_back(self, as_items(self, X), path, with_error, noisy=True)
        return None if path is None else Path(path)


class WithFilledFiles:
    """A model that knows what is missing, for more rows than fit into memory."""

    def impute_to(self, X: Any, path: str | Path | None) -> Path | None:
        """Write the rows of X with their gaps filled to a file, block by block.

        Parameters
        ----------
        X : {array-like, pathlib.Path, Rows} of shape (n_samples, n_features)
            The rows. Names of rows, and what a file has beside them, are written along.
        path : path or None
            A .npy, .csv, .parquet, .arrow or .feather file. It appears when it is complete, or not at all. None:
            standard output, as CSV.

        Returns
        -------
        path : pathlib.Path or None
            Where they are.
        """
        from mercer_old.functions.rows_in_files import as_items, write_filled

        write_filled(self, as_items(self, X).as_rows(), path)
        return None if path is None else Path(path)


class WithVerdictsInFiles:
    """A detector that writes what it says of rows."""

    def verdicts_to(self, X: Any, path: str | Path | None, fdr: float | None = None) -> Path | None:
        """Write the score, the p-value and the verdict (1: novel) of every row to a file.

        Parameters
        ----------
        X : {array-like, sparse matrix, pathlib.Path, Rows} of shape (n_samples, n_features)
            The rows. Names of rows, and what a file has beside them, are written along.
        path : path or None
            A .npy, .csv, .parquet, .arrow or .feather file. It appears when it is complete, or not at all. None:
            standard output, as CSV.
        fdr : float, default=None
            Call rows novel as `select` does with this rate. None: as `predict` does.

        Returns
        -------
        path : pathlib.Path or None
            Where they are.
        """
        from mercer_old.functions.verdicts import rows_for, verdicts_on, write_verdicts

        rows = rows_for(self, X)
        write_verdicts(verdicts_on(self, rows, fdr), rows, path)
        return None if path is None else Path(path)


class WithPicturesAbove:
    """A comparison, which has a picture for every method."""

    def plot(self, y: Any = None, *, theme: str | None = None, size: Any = None, ax: Any = None) -> Any:
        """Draw the pictures of all methods side by side, with what was measured below each title.

        Parameters
        ----------
        y : array-like of shape (n_samples,), default=None
            Labels for colours; None: those of the comparison, if it has some.
        theme : {"light", "dark"}, default=None
            The look; None: light, or that of `ax`.
        size : tuple of float, default=None
            Width and height in inches, of a figure that is made.
        ax : matplotlib Axes or array of them, default=None
            Where: one that is cut into panels, or all panels; None makes a figure.

        Returns
        -------
        display : Display
            It has ``ax_`` and ``figure_``, and ``save("picture.png")``; notebooks show it.
        """
        from mercer_old.displays.comparison import ComparisonDisplay

        return ComparisonDisplay.from_comparison(self, y).plot(ax, theme=theme, size=size)

    def report(self, X: Any = None, labels: Any = None, *, path: str | Path | None = None, data: str = "") -> str:
        """A page of the comparison: advice, linked maps of all methods, what each keeps, takes and assumes.

        It is one HTML file, light and dark, for paper, phones and screen readers, that asks nothing of the network.
        Whatever comes from the data is shown as text.

        Parameters
        ----------
        X : array-like, pathlib.Path or Rows, default=None
            The rows that were compared, for maps to show their names and values. None: maps show coordinates alone.
        labels : array-like of shape (n_samples,), mapping or frame, default=None
            Labels of the rows, classes or numbers, to colour them by: one list, or several by name. None: columns that
            `open_rows` was told to read beside the rows, or the labels of the comparison.
        path : path, default=None
            A file whose name ends in .html, to write the page to as well. It appears when it is complete, or not at
            all.
        data : str, default=""
            What the rows are called, for the title. Empty: the name of their file.

        Returns
        -------
        page : str
            The page.
        """
        from mercer_old.report.comparison.writing import report_on_comparison

        return report_on_comparison(self, X, labels, path, name=data or None)  # type: ignore[arg-type]
