"""Persona worlds in the format of PerLTQA: characters with memories, and questions with exact gold."""
