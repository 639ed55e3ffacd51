"""The parts of generate-model."""
