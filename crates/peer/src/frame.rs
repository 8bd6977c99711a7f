//! What goes through ssh between the two programs: a byte that says what it is, the length, and the content.

use gritstone_model::{Link, Machine, hexadecimal};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr};

/// The largest content: what is more comes from no Gritstone.
const MOST: usize = 1 << 20;

/// What a peer says first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hello {
    /// Version of Gritstone.
    pub version: String,
    /// Hash of the sources of all workloads.
    pub sources: String,
    /// Where its far ends listen.
    pub address: IpAddr,
    /// What it is.
    pub machine: Machine,
    /// The interface that has the address; none where none has.
    pub link: Option<Link>,
}

impl Hello {
    /// Of this program, with no host yet.
    pub fn version() -> Self {
        let mut hash = Sha256::new();
        for source in gritstone_kernels::sources() {
            hash.update(source.path);
            hash.update(source.hash);
        }
        Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            sources: hexadecimal(hash.finalize()),
            address: IpAddr::V4(Ipv4Addr::UNSPECIFIED),
            machine: Machine::default(),
            link: None,
        }
    }
}

/// The far end of a launch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Start {
    /// The program of the workload, `net/...`.
    pub program: String,
    pub params: BTreeMap<String, String>,
    /// Seconds after which it is ended.
    pub limit_s: u64,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Frame {
    /// From the peer, once.
    Hello(Box<Hello>),
    /// To it: start this.
    Start(Start),
    /// To it: this is input of what was started.
    Input(Vec<u8>),
    /// From it: what was started said this.
    Output(Vec<u8>),
    /// To it: end what was started.
    End,
    /// From it: that has ended; why, where it was not asked to.
    Ended(String),
    /// To it: this end is there.
    Alive,
}

impl Frame {
    /// Writes it whole.
    ///
    /// # Errors
    /// When the other end has gone.
    pub fn write(&self, to: &mut impl Write) -> io::Result<()> {
        let json = |value: serde_json::Result<Vec<u8>>| value.map_err(io::Error::other);
        let (kind, content) = match self {
            Self::Hello(hello) => (b'H', json(serde_json::to_vec(hello))?),
            Self::Start(start) => (b'S', json(serde_json::to_vec(start))?),
            Self::Input(bytes) => (b'I', bytes.clone()),
            Self::Output(bytes) => (b'O', bytes.clone()),
            Self::End => (b'E', vec![]),
            Self::Ended(why) => (b'X', why.clone().into_bytes()),
            Self::Alive => (b'A', vec![]),
        };
        let length = u32::try_from(content.len()).map_err(io::Error::other)?;
        let mut bytes = vec![kind];
        bytes.extend(length.to_le_bytes());
        bytes.extend(content);
        to.write_all(&bytes)?;
        to.flush()
    }

    /// Reads the next one; `None` at the end.
    ///
    /// # Errors
    /// When it is none, is cut off, or cannot be read.
    pub fn read(from: &mut impl Read) -> io::Result<Option<Self>> {
        let mut kind = [0];
        if from.read(&mut kind)? == 0 {
            return Ok(None);
        }
        let mut length = [0; 4];
        from.read_exact(&mut length)?;
        let length = u32::from_le_bytes(length) as usize;
        let bad = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what.to_owned());
        if length > MOST {
            return Err(bad("a frame is too long"));
        }
        let mut content = vec![0; length];
        from.read_exact(&mut content)?;
        let text = |content| String::from_utf8(content).map_err(|_| bad("a frame is no text"));
        Ok(Some(match kind[0] {
            b'H' => Self::Hello(Box::new(serde_json::from_slice(&content)?)),
            b'S' => Self::Start(serde_json::from_slice(&content)?),
            b'I' => Self::Input(content),
            b'O' => Self::Output(content),
            b'E' => Self::End,
            b'X' => Self::Ended(text(content)?),
            b'A' => Self::Alive,
            _ => return Err(bad("a frame is of no kind that there is")),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn frames_round_trip() {
        let start = Start {
            program: "net/rr".to_owned(),
            params: BTreeMap::from([("size".to_owned(), "64".to_owned())]),
            limit_s: 9,
        };
        let frames = [
            Frame::Hello(Box::new(Hello::version())),
            Frame::Start(start),
            Frame::Input(vec![0, 255, 7]),
            Frame::Output(vec![]),
            Frame::End,
            Frame::Ended("why".to_owned()),
            Frame::Alive,
        ];
        let mut bytes = vec![];
        for frame in &frames {
            frame.write(&mut bytes).unwrap();
        }
        let mut from = bytes.as_slice();
        for frame in frames {
            assert_eq!(Frame::read(&mut from).unwrap(), Some(frame));
        }
        assert_eq!(Frame::read(&mut from).unwrap(), None);
        for cut in 1..5 {
            assert!(Frame::read(&mut &bytes[..cut]).is_err(), "{cut}");
        }
        assert!(Frame::read(&mut [b'O', 255, 255, 255, 255].as_slice()).is_err());
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            let mut from = bytes.as_slice();
            while let Ok(Some(_)) = Frame::read(&mut from) {}
        }
    }
}
