"""Settings of the fingerprint stage."""

from pydantic import BaseModel, ConfigDict, Field


class FingerprintSettings(BaseModel):
    """How a text becomes a fingerprint."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    top_k: int = Field(
        default=30, ge=0, le=4096, description="keywords with the largest weight used; 0 = all"
    )
    min_features: int = Field(
        default=5,
        ge=1,
        le=4096,
        description="a text with fewer keywords is short: compared by its exact text only",
    )
