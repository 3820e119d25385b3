"""Settings of the index stage."""

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, field_validator

from dedup_job.documents import Channel

_CHOICE = tuple(channel for channel in Channel if channel not in (Channel.FORM, Channel.TEXT))
BYTES_PER_FINGERPRINT = 32.0
"""Memory of a fingerprint in the Hamming index: of the layouts within it the fastest is taken."""
_ID_BYTES, _EQUAL_BYTES = 13, 17  # of an ObjectId, and of what finds equal texts
_SKETCH_BYTES = {Channel.MINHASH: 190, Channel.SENTENCES: 10, Channel.FORM: 10}


class IndexSettings(BaseModel):
    """Which kept documents count as candidates, and how they are found."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    candidate_generators: tuple[Channel, ...] = Field(
        default=(Channel.SIMHASH, Channel.MINHASH),
        description="how candidates are found. simhash: few bits of the fingerprint differ; "
        "minhash: many 3-grams are the same, 190 bytes per kept document; "
        "sentences: the three longest are the same, 10 bytes. Equal texts are "
        "always found",
    )
    distance: int = Field(
        default=3,
        ge=0,
        le=7,
        description="largest distance, in bits of 64, at which simhash proposes a candidate",
    )
    blocks: int = Field(
        default=0,
        ge=0,
        le=8,
        description="blocks that the 64 bits are cut into. 0: the cheapest for the size; 4: "
        "the classic four of 16 bits. The candidates are the same",
    )
    folder: Path | None = Field(
        default=None,
        description="folder where the index is kept between runs; unset: the state folder of "
        "the user, from 100,000 kept documents on",
    )

    def bytes_each(self, *, judged: bool) -> float:
        """Memory in bytes that a kept document takes in all, with an ObjectId; as measured.

        judged: whether there is a judge, who needs a column of keys of its own.
        """
        found_by = (*self.candidate_generators, *(Channel.FORM,) * judged)
        sketches = sum(_SKETCH_BYTES.get(channel, 0) for channel in found_by)
        return BYTES_PER_FINGERPRINT + _ID_BYTES + _EQUAL_BYTES + sketches

    @field_validator("candidate_generators")
    @classmethod
    def _each_once(cls, named: tuple[Channel, ...]) -> tuple[Channel, ...]:
        if unknown := [str(channel) for channel in named if channel not in _CHOICE]:
            raise ValueError(f"{unknown[0]} is unknown, expected some of {', '.join(_CHOICE)}")
        return tuple(channel for channel in _CHOICE if channel in named)
