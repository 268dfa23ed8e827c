"""How busy the accelerators are, by NVIDIA's management library."""

from typing import Any


class DeviceUsage:
    """Utilisation of all NVIDIA devices of this machine; silent without the library.

    The library comes with NVIDIA's driver, and its Python binding ``pynvml`` with the
    accelerator variant of the lock files.
    """

    def __init__(self) -> None:
        self._library: Any = None
        self._devices: list[Any] = []
        try:
            import pynvml
        except ImportError:
            return
        try:
            pynvml.nvmlInit()
            count = pynvml.nvmlDeviceGetCount()
            self._devices = [pynvml.nvmlDeviceGetHandleByIndex(n) for n in range(count)]
        except pynvml.NVMLError:
            return
        self._library = pynvml

    def utilisation(self) -> float | None:
        """Mean share of the last moments in which a device computed.

        Returns:
            0 to 1, over the driver's last sampling period (a sixth of a second to a
            second, by NVIDIA's manual); None without devices or when the driver does
            not tell.
        """
        if self._library is None or not self._devices:
            return None
        try:
            rates = [
                self._library.nvmlDeviceGetUtilizationRates(one).gpu
                for one in self._devices
            ]
        except self._library.NVMLError:
            return None
        return sum(rates) / len(rates) / 100
