//! Text of users: UTF-8 or UTF-16, with or without a byte order mark.

/// Why bytes are not text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EncodingError {
    /// Neither UTF-8 nor UTF-16.
    #[error("not text: byte {position} is not UTF-8, and it does not begin as UTF-16 does")]
    Utf8 {
        /// From 1.
        position: usize,
    },
    /// Half a character.
    #[error("not text: it begins as UTF-16 does, and byte {position} is not UTF-16")]
    Utf16 {
        /// From 1.
        position: usize,
    },
}

/// The text of a user's file, without its byte order mark. Bytes without a mark are UTF-16 if one of the first two is 0.
///
/// # Errors
/// The first invalid byte.
pub fn decode_text(bytes: Vec<u8>) -> Result<String, EncodingError> {
    let unit: fn([u8; 2]) -> u16 = match bytes.as_slice() {
        [0xff, 0xfe, ..] => u16::from_le_bytes,
        [0xfe, 0xff, ..] => u16::from_be_bytes,
        [first, 0, ..] if *first != 0 => u16::from_le_bytes,
        [0, second, ..] if *second != 0 => u16::from_be_bytes,
        _ => return decode_utf8(bytes),
    };
    let (pairs, rest) = bytes.as_chunks::<2>();
    let mut text = String::with_capacity(bytes.len());
    for decoded in char::decode_utf16(pairs.iter().map(|&pair| unit(pair))) {
        match decoded {
            Ok(character) => text.push(character),
            Err(_) => {
                let position = text.encode_utf16().count() * 2 + 1;
                return Err(EncodingError::Utf16 { position });
            }
        }
    }
    match rest.is_empty() {
        true => Ok(without_mark(text)),
        false => Err(EncodingError::Utf16 { position: bytes.len() }),
    }
}

fn decode_utf8(bytes: Vec<u8>) -> Result<String, EncodingError> {
    let text = String::from_utf8(bytes)
        .map_err(|why| EncodingError::Utf8 { position: why.utf8_error().valid_up_to() + 1 })?;
    Ok(without_mark(text))
}

fn without_mark(mut text: String) -> String {
    if text.starts_with('\u{feff}') {
        text.drain(..'\u{feff}'.len_utf8());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_encodings_give_one_text() {
        let text = "n1 rack=ä\r\n\u{1f9ea}";
        let utf16 = |mark: &str, order: fn(u16) -> [u8; 2]| -> Vec<u8> {
            let units: Vec<u16> = format!("{mark}{text}").encode_utf16().collect();
            units.into_iter().flat_map(order).collect()
        };
        for bytes in [
            text.as_bytes().to_vec(),
            format!("\u{feff}{text}").into_bytes(),
            utf16("\u{feff}", u16::to_le_bytes),
            utf16("\u{feff}", u16::to_be_bytes),
            utf16("", u16::to_le_bytes),
            utf16("", u16::to_be_bytes),
        ] {
            assert_eq!(decode_text(bytes).as_deref(), Ok(text));
        }
        assert_eq!(decode_text(vec![]).as_deref(), Ok(""));
    }

    #[test]
    fn binary_files_are_named() {
        let latin = decode_text(b"caf\xe9".to_vec());
        assert_eq!(latin, Err(EncodingError::Utf8 { position: 4 }));
        let half = decode_text(vec![0xff, 0xfe, b'a', 0, b'b']);
        assert_eq!(half, Err(EncodingError::Utf16 { position: 5 }));
        let surrogate = decode_text(vec![0xff, 0xfe, b'a', 0, 0, 0xd8]);
        assert_eq!(surrogate, Err(EncodingError::Utf16 { position: 5 }));
    }
}
