"""Text files as blocks of UTF-8 bytes: decompressed, decoded, without a BOM."""

import codecs
import json
from collections.abc import Iterator

from data.errors import DataError
from data.shards import payload_chunks

# Large enough that the vectorised parser works on tens of thousands of rows at once,
# small enough that a worker holds a few at no cost.
BLOCK_BYTES = 4 << 20


def text_blocks(file: str, encoding: str) -> Iterator[bytes]:
    """Reads a text file, plain or GZIP.

    Text declared as UTF-8 passes as it is, valid or not: ids are bytes.

    Args:
        file: path of the file.
        encoding: its declared encoding.

    Yields:
        Blocks of UTF-8 bytes, cut anywhere.

    Raises:
        DataError: the file is damaged, or its encoding is another.
    """
    try:
        codec = codecs.lookup(encoding)
    except LookupError:
        raise DataError(f"{file}: unknown encoding '{encoding}'") from None
    chunks = _joined(payload_chunks(file))
    if codec.name != "utf-8":
        chunks = _decoded(chunks, file, codec)
    first = True
    for chunk in chunks:
        if first:
            _refuse_wide(chunk[:4], file)
            chunk = chunk.removeprefix(codecs.BOM_UTF8)
        first = False
        yield chunk


def _refuse_wide(head: bytes, file: str) -> None:
    """Stops at text of two or four bytes a letter.

    Its first letters are ASCII in nearly any log, so a byte order mark or the places of
    NUL bytes tell the encoding, as of any JSON text (RFC 4627, section 3).
    """
    # Of the standard library, though not in its documentation.
    found = json.detect_encoding(head)
    if not found.startswith("utf-8"):
        raise DataError(
            f"{file}: {found.upper()} text, by its first bytes; declare encoding: "
            f"{found}, or convert it to UTF-8"
        )


def _joined(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Pieces of at least a block, whatever the pieces that come in."""
    pieces: list[bytes] = []
    length = 0
    for chunk in chunks:
        pieces.append(chunk)
        length += len(chunk)
        if length >= BLOCK_BYTES:
            yield b"".join(pieces)
            pieces, length = [], 0
    if pieces:
        yield b"".join(pieces)


def _decoded(
    chunks: Iterator[bytes], file: str, codec: codecs.CodecInfo
) -> Iterator[bytes]:
    """The text of another encoding as UTF-8."""
    decoder = codec.incrementaldecoder()
    offset = 0
    try:
        for chunk in chunks:
            yield decoder.decode(chunk).encode()
            offset += len(chunk)
        yield decoder.decode(b"", final=True).encode()
    except UnicodeError as error:
        raise DataError(
            f"{file}: not {codec.name} after byte {offset}: "
            f"{getattr(error, 'reason', error)}; declare another encoding"
        ) from None
