"""Persona worlds after PerLTQA (seed 004): characters with memories, and questions with exact gold."""
