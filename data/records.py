"""Framing of TFRecord files: length, checksums, payload.

A record is the payload's length (uint64), the masked CRC32C of those eight bytes, the
payload, and the masked CRC32C of the payload; all little endian.

References:
    https://www.tensorflow.org/tutorials/load_data/tfrecord#tfrecords_format_details
"""

import struct
from collections.abc import Iterable, Iterator

import google_crc32c
from isal import isal_zlib

from data.errors import DataError

_HEADER = struct.Struct("<QI")
_FOOTER = struct.Struct("<I")
_OVERHEAD = _HEADER.size + _FOOTER.size
_MASK_DELTA = 0xA282EAD8
CHUNK_BYTES = 1 << 20
_PIECE_BYTES = 8 << 20
GZIP_MAGIC = b"\x1f\x8b"
# 0x78 0x5e is left out: it is also the text "x^".
ZLIB_MAGICS = (b"\x78\x01", b"\x78\x9c", b"\x78\xda")
# Protobuf messages cannot be larger, so a longer record is a damaged length.
MAX_RECORD_BYTES = 2**31 - 1


class RecordError(DataError):
    """A record is damaged.

    Attributes:
        record: number of the record in the file, counted from 0.
        offset: first byte of the record in the uncompressed file.
        reason: what is wrong with it.
        resumable: True if the records after it can still be read.
    """

    def __init__(
        self, file: str, record: int, offset: int, reason: str, resumable: bool = False
    ) -> None:
        """Keeps the place of the damage.

        Args:
            file: path of the file.
            record: number of the record, from 0.
            offset: its first byte in the uncompressed file.
            reason: what is wrong.
            resumable: True if the next record can be found.
        """
        super().__init__(
            f"{file}: record {record} (from 0) at offset {offset}: {reason}; "
            f"{record} records before it are readable"
        )
        self.record = record
        self.offset = offset
        self.reason = reason
        self.resumable = resumable


def masked_crc(data: bytes) -> int:
    """CRC32C of the bytes, rotated and shifted as TFRecord stores it."""
    crc = google_crc32c.value(data)
    return ((crc >> 15 | crc << 17) + _MASK_DELTA) & 0xFFFF_FFFF


def frame(payload: bytes) -> bytes:
    """One payload as a TFRecord record."""
    length = len(payload)
    head = struct.pack("<Q", length)
    return b"".join(
        (
            head,
            _FOOTER.pack(masked_crc(head)),
            payload,
            _FOOTER.pack(masked_crc(payload)),
        )
    )


def frame_all(payloads: Iterable[bytes]) -> bytes:
    """Payloads as consecutive TFRecord records."""
    pieces: list[bytes] = []
    for payload in payloads:
        head = struct.pack("<Q", len(payload))
        pieces += (
            head,
            _FOOTER.pack(masked_crc(head)),
            payload,
            _FOOTER.pack(masked_crc(payload)),
        )
    return b"".join(pieces)


def starts_plain(head: bytes) -> bool:
    """True if the bytes start an uncompressed TFRecord file."""
    if len(head) < _HEADER.size:
        return False
    _, length_crc = _HEADER.unpack_from(head)
    return masked_crc(head[:8]) == length_crc


def inflate(chunks: Iterable[bytes], file: str, wbits: int = 31) -> Iterator[bytes]:
    """Uncompressed bytes of a GZIP or ZLIB file, whole or an error.

    Args:
        chunks: the file's bytes.
        file: its path, for the error.
        wbits: as for ``zlib.decompressobj``: 31 for GZIP, 15 for ZLIB.

    Yields:
        Uncompressed pieces.

    Raises:
        DataError: the stream lacks its end marker, fails its CRC, or is followed by
            other bytes.
    """
    decoder = isal_zlib.decompressobj(wbits=wbits)
    taken = 0
    first = b""

    def damage(reason: object) -> DataError:
        return DataError(
            f"{file}: damaged compression near byte {taken} of the file: {reason}; "
            "copy the file again from its source"
        )

    def inflated(chunk: bytes) -> bytes:
        try:
            # A bounded piece: a few bytes can unpack to gigabytes.
            return decoder.decompress(chunk, _PIECE_BYTES)
        # Its stub declares the class as an instance.
        except isal_zlib.error as error:  # type: ignore[misc]
            raise damage(error) from None

    for chunk in chunks:
        taken += len(chunk)
        first = first or chunk[:1]
        while chunk:
            if decoder.eof:
                if not chunk.strip(b"\0"):
                    break  # zero padding is allowed after the last member
                # ISA-L waits for a whole header before it judges one.
                if chunk[:1] != first:
                    raise damage("other bytes after the end")
                decoder = isal_zlib.decompressobj(wbits=wbits)
            piece = inflated(chunk)
            chunk = decoder.unconsumed_tail or decoder.unused_data
            if piece:
                yield piece
    while not decoder.eof and (piece := inflated(b"")):
        yield piece
    if not decoder.eof:
        raise DataError(
            f"{file}: no end marker of the compression after byte {taken}: the file was "
            "cut; copy it again from its source"
        )


def read_records(
    chunks: Iterable[bytes], file: str
) -> Iterator[tuple[int, int, bytes | RecordError]]:
    """Records of an uncompressed TFRecord stream.

    Args:
        chunks: the uncompressed bytes.
        file: path of the file, for errors.

    Yields:
        Number from 0, offset, and payload. A record whose payload fails its checksum
        comes as a ``RecordError``, and reading goes on.

    Raises:
        RecordError: the stream is cut inside a record or a length is damaged, so no
            later record can be found.
    """
    buffer = bytearray()
    position = offset = record = 0
    for chunk in chunks:
        buffer = buffer[position:]
        buffer += chunk
        position = 0
        while len(buffer) - position >= _HEADER.size:
            length, length_crc = _HEADER.unpack_from(buffer, position)
            if masked_crc(bytes(buffer[position : position + 8])) != length_crc:
                reason = "length fails its checksum"
                if record == 0:
                    reason += " (not a TFRecord file, or another compression)"
                raise RecordError(file, record, offset, reason)
            if length > MAX_RECORD_BYTES:
                raise RecordError(file, record, offset, f"absurd length {length}")
            if len(buffer) - position < length + _OVERHEAD:
                break
            start = position + _HEADER.size
            payload = bytes(buffer[start : start + length])
            (payload_crc,) = _FOOTER.unpack_from(buffer, start + length)
            if masked_crc(payload) == payload_crc:
                yield record, offset, payload
            else:
                reason = "payload fails its checksum"
                yield record, offset, RecordError(file, record, offset, reason, True)
            position += length + _OVERHEAD
            offset += length + _OVERHEAD
            record += 1
    if position < len(buffer):
        raise RecordError(
            file, record, offset, f"cut after {len(buffer) - position} bytes"
        )
