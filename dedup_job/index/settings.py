"""Settings of the index stage."""

from pathlib import Path

from pydantic import BaseModel, Field, field_validator

from dedup_job.documents import Channel
from dedup_job.messages import Message

_CHOICE = tuple(channel for channel in Channel if channel not in (Channel.FORM, Channel.TEXT))


class IndexSettings(BaseModel, frozen=True, extra="forbid"):
    """Which kept documents count as candidates, and how they are found."""

    candidate_generators: tuple[Channel, ...] = Field(
        default=(Channel.SIMHASH, Channel.MINHASH),
        description="how candidates are found. simhash: few bits of the fingerprint differ; "
        "minhash: many 3-grams are the same, 130 bytes per kept document; "
        "sentences: the three longest are the same, 7 bytes. Equal texts are "
        "always found",
    )
    distance: int = Field(
        default=3,
        ge=0,
        le=7,
        description="largest distance, in bits of 64, at which simhash proposes a candidate",
    )
    folder: Path | None = Field(
        default=None,
        description="folder where the index is kept between runs; unset: the state folder of "
        "the user, from 100,000 kept documents on",
    )

    @field_validator("candidate_generators")
    @classmethod
    def _each_once(cls, named: tuple[Channel, ...]) -> tuple[Channel, ...]:
        if unknown := [str(channel) for channel in named if channel not in _CHOICE]:
            raise ValueError(
                Message(
                    "{name} is unknown, expected some of {names}",
                    name=unknown[0],
                    names=", ".join(_CHOICE),
                )
            )
        return tuple(channel for channel in _CHOICE if channel in named)
