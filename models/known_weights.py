"""Files known to hold random numbers instead of trained weights, by their SHA-256."""

from __future__ import annotations

# The tiny models made for checking implementations against the published code.
RANDOM_WEIGHTS = frozenset(
    {
        "b3ddb6b48a0bd60998f76c7fb53b23058577976f3f057c9360d4e614fa03c2e6",  # tiny_base.pt
        "ae10dfaab6a9b634ae09b4d3d52ae3b18a5a0d18cfa52072eb54c2e275fddb19",  # tiny_base.safetensors
        "a174a5d409044277ee33c7329525523a0f7103bf44e3de95b63c89a187a2f8bd",  # tiny_head.pt
        "eea99969cb50c42ca579d84aba448ac4d0a6fba5a20c7b919386bcd1e252c6a0",  # tiny_head.safetensors
        "57a4063d7596edb43b7d70b6967075cc7bda57d61b964bbe21d93a1bdd30cc27",  # AXON tiny.safetensors
        "6606ddc688392daec43935983450ecfa12edf952984325ad4ce10f0ffb582062",  # tiny_head_class_weight.pt
        "bdc5e8173cf54b2170dc95cf7fe0d79fe0b116356a68b79dde4e9e8b9a74a5ba",  # NeurDuo-EEG tiny_checkpoint.pt
        "c53b643099e1453f49a2e240f2eee788bf619f00c45fb83961974b3e0b498213",  # NeurDuo-EEG tiny.safetensors
        "170b6e565440426e573c4ff1b4882b4ddb64022a9fa4d8421271e0783bb277e5",  # NeurDuo-EEG tiny_odd.safetensors
        "9d24a5b058d8eb615b173ed24d4be529f9e94b660f53ee3429062ae9a1206a47",  # NeurDuo-EEG tokenizer tiny_checkpoint.pt
        "cd66fc23257f4a3845cf82e05c0d819acc140ed4fa85b8fd171c4d49fa6d0030",  # NeurDuo-EEG tokenizer real.safetensors
        "2d26fe5e2599630e5c97954718a56ac6bdde0e2d29abd4537a3f02a4e00e60f0",  # NeurDuo-EEG tokenizer tiny.safetensors
        "b1d0e7b14bdc6a46ded37de0b2b50f45258f6244582ff99ab7c8229befb926a9",  # NeurDuo-EEG tiny_heads.safetensors
    }
)
