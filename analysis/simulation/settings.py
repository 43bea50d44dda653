"""What may be asked of the simulator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from analysis.errors import AnalysisError
from analysis.simulation.sensors import REGIONS, SETS, SHAFTS

REFERENCES = ("any", "none", "cz-pz", "ears")
_FEWEST_SECONDS = 10.0


@dataclass(frozen=True)
class Settings:
    """One simulated recording: `duration` in whole seconds, `sfreq` in whole hertz.

    `seizures` None draws their number at `per_hour`; `regions` empty takes all of the set's. The ranges, in the names
    of the parameters they are drawn from: peak over background SD, last frequency in hertz, length in seconds.
    `mains` is in hertz, 0 for none. `reference` "any" draws one of the others; contacts have a screw in the skull.
    """

    duration: int = 600
    sfreq: int = 256
    electrodes: str = "10-20"
    seizures: int | None = None
    per_hour: float = 3.6
    regions: tuple[str, ...] = ()
    reference: str = "any"
    mains: float = 50.0
    contrast: tuple[float, float] = (1.6, 6.0)
    f_end: tuple[float, float] = (1.0, 3.0)
    length: tuple[float, float] = (25.0, 110.0)
    artefacts: bool = True

    def check(self) -> None:
        """AnalysisError says what cannot be simulated."""
        if self.electrodes not in SETS:
            raise AnalysisError(f"no set of electrodes is called {self.electrodes!r}: there are {', '.join(SETS)}")
        known = region_names(self.electrodes)
        for name in self.regions:
            if name not in known:
                raise AnalysisError(
                    f"no region is called {name!r}: with {self.electrodes} there are {', '.join(known)}"
                )
        if self.duration < _FEWEST_SECONDS:
            raise AnalysisError(f"{self.duration} s are too short to simulate: give at least {_FEWEST_SECONDS:g}")
        if not 100 <= self.sfreq <= 4096:
            raise AnalysisError(f"{self.sfreq} Hz cannot be simulated: give a rate from 100 to 4096")
        if self.reference not in REFERENCES:
            raise AnalysisError(f"no reference is called {self.reference!r}: there are {', '.join(REFERENCES)}")
        if self.electrodes == "ieeg" and self.reference != "any":
            raise AnalysisError(f"contacts have no reference {self.reference!r}: take any")


def region_names(electrodes: str) -> Sequence[str]:
    """Where seizures may begin: regions of the scalp's sets, shafts of the other."""
    return SHAFTS if electrodes == "ieeg" else tuple(REGIONS)
