"""Files known to hold random numbers instead of trained weights, by their SHA-256."""

from __future__ import annotations

# The tiny models made for checking implementations against the published MVPFormer code.
RANDOM_WEIGHTS = frozenset(
    {
        "b3ddb6b48a0bd60998f76c7fb53b23058577976f3f057c9360d4e614fa03c2e6",  # tiny_base.pt
        "ae10dfaab6a9b634ae09b4d3d52ae3b18a5a0d18cfa52072eb54c2e275fddb19",  # tiny_base.safetensors
        "a174a5d409044277ee33c7329525523a0f7103bf44e3de95b63c89a187a2f8bd",  # tiny_head.pt
        "eea99969cb50c42ca579d84aba448ac4d0a6fba5a20c7b919386bcd1e252c6a0",  # tiny_head.safetensors
        "57a4063d7596edb43b7d70b6967075cc7bda57d61b964bbe21d93a1bdd30cc27",  # AXON tiny.safetensors
        "6606ddc688392daec43935983450ecfa12edf952984325ad4ce10f0ffb582062",  # tiny_head_class_weight.pt
    }
)
