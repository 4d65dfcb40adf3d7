"""What is stored of every model: facts with names that last, and how a model is made of them again.

A `Schema` names each fact of a fitted model with its kind and its shape; `take` reads them off a model, and `give` puts
them into a new one, private objects included, which are made anew. A model that is to be kept in files brings a schema
of its own and a line in `SCHEMAS`; names and meanings never change afterwards, as old files stay readable.
"""

from mercer_old.store.schemas.base import Schema
from mercer_old.store.schemas.registry import SCHEMAS

__all__ = ["SCHEMAS", "Schema"]
