"""Chats and preferences in the formats of datasets and other libraries ↔ the types.

chat         a chat of any usual shape → Conversation; and back to ShareGPT
transcripts  `Human: … Assistant: …` ↔ Conversation
parts        parts of a message → Part
preferences  rows of preference sets → LabeledComparison
inspect_ai   samples of inspect_ai ↔ Sample
"""
