"""Settings of the fingerprint stage."""

from pydantic import BaseModel, ConfigDict, Field, model_validator


class FingerprintSettings(BaseModel):
    """How a text becomes a fingerprint."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    top_k: int = Field(
        default=30, ge=0, le=4096, description="keywords with the largest weight used; 0 = all"
    )
    min_features: int = Field(
        default=5,
        ge=2,
        le=4096,
        description="a text with fewer keywords is short: compared by its exact text only",
    )

    @model_validator(mode="after")
    def _some_text_is_not_short(self) -> "FingerprintSettings":
        if 0 < self.top_k < self.min_features:
            raise ValueError(
                f"top_k {self.top_k} is below min_features {self.min_features}, so every text "
                "would be short and near duplicates never be found"
            )
        return self
