"""Short names for numpy arrays by the kind of their items."""

from typing import Any

import numpy as np
import numpy.typing as npt

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
# Where the kind is known at run time only, such as a column that a caller names.
Values = npt.NDArray[Any]
