"""Settings of the index stage."""

from pydantic import BaseModel, ConfigDict, Field


class IndexSettings(BaseModel):
    """Which kept documents count as candidates."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    distance: int = Field(
        default=3,
        ge=0,
        le=7,
        description="largest Hamming distance, in bits of 64, at which a kept document is found",
    )
