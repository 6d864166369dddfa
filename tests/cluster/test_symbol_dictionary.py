"""The dictionary of a group: dense ids that all members agree on."""

import hypothesis.strategies as st
import numpy as np
import pyarrow
from hypothesis import given, settings
from meeting import together

from engine.cluster.symbol_dictionary import Dictionary

words = st.lists(st.text(alphabet="ab\x00ä𝄞", max_size=3), max_size=8)


@settings(max_examples=2 * settings.default.max_examples)
@given(st.lists(words, min_size=1, max_size=4), st.lists(st.sampled_from(["", "a", "zz"]), unique=True))
def test_ids_are_dense_and_agree(parts, constants):
    def work(seat):
        texts = pyarrow.array(parts[seat.rank], pyarrow.string())
        dictionary = Dictionary(seat, constants, [texts])
        ids = dictionary.encode(texts)
        everything = dictionary.decode(np.arange(len(dictionary))).to_pylist()
        return ids.tolist(), dictionary.decode(ids).to_pylist(), everything, dictionary.symbols()

    done = together(len(parts), work)
    table = done[0][2]
    assert table[: len(constants)] == constants
    assert sorted(table) == sorted({*constants, *(word for part in parts for word in part)})
    for part, (ids, texts, everything, symbols) in zip(parts, done, strict=True):
        assert texts == part and everything == table
        assert [table[i] for i in ids] == part
        assert symbols.texts(range(len(symbols))) == table
