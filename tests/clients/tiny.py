"""Models and tokenizers small enough to be made on the spot: no test loads one from elsewhere."""

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast

SPECIAL = ["<pad>", "<unk>", "<eos>", "<cls>", "<sep>", "<mask>", "user", "assistant", "system", ":", ".", "?", "\n"]
WORDS = ["a", "the", "what", "is", "cat", "dog", "sky", "sea", "blue", "red", "good", "bad", "film", "was", "i", "say"]
CHAT = "{% for m in messages %}{{ m['role'] }} : {{ m['content'] }} <eos> \n{% endfor %}{% if add_generation_prompt %}assistant :{% endif %}"


def tokenizer(**options):
    """Words of a short list; anything else is unknown. It ends a pair of texts as BERT does when `pairs` is given."""
    pairs = options.pop("pairs", False)
    vocabulary = {word: index for index, word in enumerate(SPECIAL + WORDS + [str(n) for n in range(30)])}
    inner = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    inner.normalizer = normalizers.Lowercase()
    inner.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    if pairs:
        inner.post_processor = processors.BertProcessing(("<sep>", 4), ("<cls>", 3))
    names = {"pad_token": "<pad>", "unk_token": "<unk>", "eos_token": "<eos>", "bos_token": "<eos>"}
    names |= {"cls_token": "<cls>", "sep_token": "<sep>", "mask_token": "<mask>"} if pairs else {}
    made = PreTrainedTokenizerFast(tokenizer_object=inner, model_max_length=64, **names, **options)
    made.chat_template = CHAT
    return made


def gpt2():
    """A causal model of two layers, the same in every run."""
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel

    torch.manual_seed(0)
    size = len(tokenizer())
    return GPT2LMHeadModel(
        GPT2Config(
            vocab_size=size,
            n_positions=64,
            n_embd=16,
            n_layer=2,
            n_head=2,
            bos_token_id=2,
            eos_token_id=2,
            pad_token_id=0,
        )
    )


def bert(kind="BertModel", **options):
    """An encoder of two layers, or one with a head on it, the same in every run."""
    import torch
    import transformers

    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=len(tokenizer()),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=64,
        **options,
    )
    return getattr(transformers, kind)(config)
