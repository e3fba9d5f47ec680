"""Chats and preferences in the formats of datasets and other libraries ↔ the types.

chat         a chat of any usual shape, or a `Human: … Assistant: …` transcript ↔ Conversation
preferences  rows of preference sets → LabeledComparison
inspect_ai   samples of inspect_ai ↔ Sample
"""
