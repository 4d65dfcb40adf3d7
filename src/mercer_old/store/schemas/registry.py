"""The models there are files of: a line for each."""

from mercer_old.store.schemas.base import Schema
from mercer_old.store.schemas.factors import FACTOR_ANALYSIS
from mercer_old.store.schemas.kernel import KERNEL_PCA
from mercer_old.store.schemas.latent import LATENT
from mercer_old.store.schemas.linear import INCREMENTAL_PCA, PCA_SCHEMA, PROBABILISTIC_PCA
from mercer_old.store.schemas.local import LLE
from mercer_old.store.schemas.networks import AUTOENCODER
from mercer_old.store.schemas.novelty import NOVELTY

__all__ = ["SCHEMAS"]

SCHEMAS: dict[str, Schema] = {
    schema.model.__name__: schema
    for schema in (
        PCA_SCHEMA,
        INCREMENTAL_PCA,
        PROBABILISTIC_PCA,
        FACTOR_ANALYSIS,
        KERNEL_PCA,
        LLE,
        LATENT,
        AUTOENCODER,
        NOVELTY,
    )
}
