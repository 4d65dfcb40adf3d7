"""What the numbers of a page mean: of every term its name, and a few sentences for who asks."""

__all__ = ["GLOSSARY"]

GLOSSARY: dict[str, tuple[str, str]] = {
    "variance": (
        "the variance of a component",
        "How far the rows spread along a component: the sum of the squares of their distances from the mean along it, "
        "divided by n − 1, or by n of probabilistic PCA. It is an eigenvalue of the covariance matrix; of a kernel, of "
        "the centred kernel matrix, divided by n − 1.",
    ),
    "eigenvalue": (
        "the eigenvalue of a component",
        "How badly this coordinate fits the weights by which every row is rebuilt from its neighbours. The smallest "
        "are wanted: zero would be a perfect fit.",
    ),
    "share": (
        "the share of a component",
        "The variance of a component, divided by that of all directions together, those that were not kept as well. Of "
        "a kernel it is the share of the variance in the space of its features, not of the columns.",
    ),
    "together": (
        "the share of the first ones together",
        "The sum of the shares of this component and all before it: how much of the variance a picture has that shows "
        "so many.",
    ),
    "proven": (
        "what is proven",
        "The true number, that of exact arithmetic on the same rows, lies between these ends. It follows from the "
        "residual of every component and is no statement about other rows. The ends are rounded outwards.",
    ),
    "certified": (
        "the certificate",
        "A fit is certified if every component was checked after it was computed: its residual is tiny, and where it "
        "is said so, no larger eigenvalue was missed. That is a proof about the arithmetic, not about the data.",
    ),
    "rules": (
        "a rule for how many components to keep",
        "Each rule asks another question: which components exceed noise, where the scree bends, what has 90 % of the "
        "variance. The consensus is the median of those that tell signal from noise, which have filled dots.",
    ),
    "spectrum": (
        "the spectrum",
        "The same numbers on a scale of logarithms: a straight line is a steady decay, a gap tells components apart. "
        "Hollow points are directions that the data do not determine, as their numbers are too close to each other.",
    ),
    "loading": (
        "a loading",
        "The entry of a component for a column, times the standard deviation of its scores: of divided columns, the "
        "correlation between the column and the component. Its sign says whether both rise together.",
    ),
    "influence": (
        "influence",
        "By how much the score moves where a column moves by one standard deviation, from the gradient of the "
        "component: the root mean square over rows. The thin line is the same between rows, along the straight line "
        "from one to another: it sees what tells groups apart, where no row is.",
    ),
    "field": (
        "the field of a component",
        "The component as a function of both columns: every place of the plane has a score. It is zero on the line, "
        "and the colours say which side is which; directions of components are nobody's to choose.",
    ),
    "walk": (
        "a walk along a component",
        "From one end of the scores to the other (1 % to 99 % of the rows), with all other components at zero: the row "
        "whose image comes nearest to that point. Of kernels no row may be exactly there; how far it is off is told.",
    ),
    "sweep": (
        "the bandwidth",
        "γ says how fast likeness falls with distance. Too small, and all rows look alike: the picture becomes that of "
        "PCA. Too large, and every row is alone: shares fall, and the picture becomes a star. Nothing tells the right "
        "one from one picture; mercer.tune holds rows out to compare them.",
    ),
    "t2": (
        "T²",
        "How far a row is from the mean inside the space of the components, in standard deviations, squared and added "
        "up (Hotelling).",
    ),
    "q": (
        "Q",
        "The squared distance of a row from the space of the components: what they leave of it. Large where a row has "
        "something that the rows of the fit had not.",
    ),
    "p": (
        "the p-value of a row",
        "How often a usual row is at least as novel as this one, by rows that were held out of the fit: (1 + how many "
        "of them score as high) / (1 + how many there are). It promises nothing about rows that the fit has seen.",
    ),
    "stability": (
        "stability",
        "Rows were drawn again and again, with replacement, and the components computed anew: by how many degrees the "
        "space of the first ones turned. Nine of ten draws within 20° count as stable.",
    ),
    "plan": (
        "the plan",
        "How the fit was going to be computed, with the memory and time that would take, and why that way. It was "
        "settled before the work, from the numbers of rows and columns and from the limits that were given.",
    ),
    "sha256": (
        "a sha256",
        "A fingerprint of the data: the same numbers in the same order give the same one, and any change another.",
    ),
    "map": (
        "the map",
        "Every point is a row, placed by its scores. Points that lie close are alike by what the components keep; what "
        "they leave out may still differ. Axes carry shares, and their directions are nobody's to choose.",
    ),
    "reconstruction": (
        "the reconstruction error",
        "The sum of the eigenvalues: how far coordinates are from being rebuilt by the same weights as the rows.",
    ),
    "linked": (
        "a linked map",
        "The same rows in every map, each placed as a method has it. Most methods leave open which way a picture is "
        "turned or mirrored and how large it is: compare who is near whom, not where something lies. Axes have the "
        "units of their method.",
    ),
    "standard-error": (
        "the standard error",
        "How far a number would be off, as a rule, with other rows of the same kind: the standard deviation of one "
        "number a row, divided by the root of how many there are. Of what is measured on repeats, one number a repeat.",
    ),
    "told-apart": (
        "what can be told apart",
        "A method is called worse than another only where their difference, row by row on the same rows, is beyond two "
        "of its standard errors and beyond 0.005. What cannot be told apart need not be equal.",
    ),
    "cpu": (
        "the processor time",
        "Seconds of all processor cores together for the fit to all rows; libraries were loaded before.",
    ),
    "memory": ("the memory", "The most that the process of the method held, libraries and all."),
    "trustworthiness": (
        "trustworthiness",
        "Whether neighbours in the picture are neighbours in the rows: 1 if all are, about one half by chance. Rows "
        "that come together though they are far apart count the more the farther they are (Venna and Kaski).",
    ),
    "continuity": (
        "continuity",
        "Whether neighbours in the rows are neighbours in the picture: 1 if all are, about one half by chance. It "
        "falls where a picture tears apart what belongs together.",
    ),
    "lcmc": (
        "LCMC",
        "The share of neighbours in the rows that are neighbours in the picture as well, less what chance would give: "
        "the local continuity meta-criterion of Chen and Buja. 0 is chance.",
    ),
    "distances": (
        "the correlation of distances",
        "Of every row, the rank correlation (Spearman) of its distances to all others in the rows and in the picture, "
        "averaged: 1 where far is far and near is near, 0 by chance. It says whether gaps and sizes of groups mean "
        "something.",
    ),
    "label-hit": (
        "the label hit",
        "The share of rows whose label most of their neighbours in the picture have. No method has seen the labels.",
    ),
    "new-rows": (
        "trustworthiness of new rows",
        "A fifth of the rows was left out of a fit and placed afterwards: whether they came to lie among those of the "
        "fit that are their neighbours in the rows. One half is chance.",
    ),
    "new-rows-off": (
        "the error of new rows",
        "How far rows that were left out are placed from where a fit to all rows has them, once one picture is moved, "
        "turned and scaled onto the other: the squares, divided by the spread of the picture. 0 is the same place, and "
        "1 as far off as their middle.",
    ),
    "reconstruction-error": (
        "what is lost",
        "Rows that were left out of a fit were placed and led back to their columns: the squares of what does not come "
        "back, as a share of their variance. 0 is all of it, 1 no better than the mean.",
    ),
    "moved": (
        "what moves",
        "A fifth of the rows was left out and another seed taken: how far the picture of the others is from that of "
        "all rows, once it is moved, turned and scaled onto it (Procrustes). 0 is the same shape, 1 has nothing in "
        "common.",
    ),
    "reseeded": (
        "what another seed changes",
        "All rows were fitted once more with another seed: how far both pictures are from each other, once one is "
        "moved, turned and scaled onto the other (Procrustes). 0 also stands for methods that draw nothing by chance.",
    ),
}
