"""Chats and judgements as datasets and other libraries write them ↔ the types.

chat         a chat of any usual shape → Conversation; and back to ShareGPT
transcripts  `Human: … Assistant: …` ↔ Conversation
parts        pieces of a message → Part
preferences  rows of preference sets → LabeledComparison
inspect_ai   samples of inspect_ai ↔ Sample
"""
