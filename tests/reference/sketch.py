"""Naive versions of sketches, in plain loops; no code of dedup_job."""

BINS, BANDS, ROWS = 128, 20, 5
WORD = 2**64
GAMMA = 0x9E3779B97F4A7C15


def naive_splitmix(seed, output):
    """Return output n of SplitMix64, 1-based."""
    z = (seed + output * GAMMA) % WORD
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % WORD
    z = (z ^ z >> 27) * 0x94D049BB133111EB % WORD
    return z ^ z >> 31


def naive_grams(text):
    """Return the set of 3-grams; a shorter text is one gram."""
    return {text[i : i + 3] for i in range(len(text) - 2)} or {text}


def naive_bins(text):
    """Return the value of each bin: the least one of the first round that reaches it."""
    seeds = []
    for gram in naive_grams(text):
        points = [ord(character) for character in gram]
        points += [2**21 - 1] * (3 - len(points))
        seeds.append(points[0] * 2**42 + points[1] * 2**21 + points[2])
    bins = {}
    for turn in range(2 * BINS):
        reached = {}
        for seed in seeds:
            value = naive_splitmix(seed, turn + 1)
            bin_ = value % BINS if turn < BINS else turn - BINS
            reached.setdefault(bin_, []).append(turn * 2**56 + value // 2**8)
        bins = {bin_: min(values) for bin_, values in reached.items()} | bins
        if len(bins) == BINS:
            break
    return [bins[bin_] for bin_ in range(BINS)]


def naive_keys(bins):
    """Return the keys of the bands, 30 bits."""
    keys = []
    for band in range(BANDS):
        value = 0
        for row in range(ROWS):
            value = (value * GAMMA + bins[band * ROWS + row]) % WORD
        keys.append(naive_splitmix(value, 0) // 2**34)
    return keys


def naive_bits(bins):
    """Return the last bit of each bin, in two words."""
    words = [0, 0]
    for bin_, value in enumerate(bins):
        words[bin_ // 64] += (value % 2) * 2 ** (bin_ % 64)
    return words


def naive_sentences(text):
    """Return the sentences without white space, in lower case and half width."""
    sentences = [""]
    for character in text:
        if "！" <= character <= "～":
            character = chr(ord(character) - 0xFEE0)
        if character in "。!?;\n\v\f\r\x85\u2028\u2029":
            sentences.append("")
        elif not character.isspace():
            lower = character.lower()
            plain = len(lower) == 1 and character < "\U00010000"
            sentences[-1] += lower if plain else character
    return sentences


def naive_sentence_key(text):
    """Return the hash of the three longest sentences, of the text if none has 8 characters."""

    def hashed(sentence):
        value = 0
        for character in sentence:
            value = (value + ord(character) + 1) * GAMMA % WORD
        return value

    sentences = naive_sentences(text)
    longest = sorted(((len(s), hashed(s)) for s in sentences if s), reverse=True)[:3]
    if longest and longest[0][0] >= 8:
        value = sum(naive_splitmix(hash_, 0) for _, hash_ in longest) % WORD
    else:
        value = hashed("".join(sentences))
    return naive_splitmix(value, 0) // 2**34
