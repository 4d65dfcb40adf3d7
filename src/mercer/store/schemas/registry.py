"""The models there are files of: a line for each."""

from mercer.store.schemas.base import Schema
from mercer.store.schemas.factors import FACTOR_ANALYSIS
from mercer.store.schemas.kernel import KERNEL_PCA
from mercer.store.schemas.latent import LATENT
from mercer.store.schemas.linear import INCREMENTAL_PCA, PCA_SCHEMA, PROBABILISTIC_PCA
from mercer.store.schemas.local import LLE
from mercer.store.schemas.networks import AUTOENCODER
from mercer.store.schemas.novelty import NOVELTY

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
