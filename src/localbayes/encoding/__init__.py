"""Tables become integer codes here, once, for every classifier."""

from localbayes.encoding.coded import Coded, code_dtype
from localbayes.encoding.encoder import TableEncoder
from localbayes.encoding.labels import ClassLabels

__all__ = ["ClassLabels", "Coded", "TableEncoder", "code_dtype"]
