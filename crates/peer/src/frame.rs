//! Frames between the two programs, through ssh: a byte for the type, the length, and the content.

use gritstone_model::{Link, Machine, hexadecimal};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr};

/// Bytes; no Gritstone sends more.
const MAX_CONTENT: usize = 1 << 20;

/// First message of a peer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hello {
    /// Version of Gritstone.
    pub version: String,
    /// Hash of the sources of all workloads.
    pub sources: String,
    /// Address at which its far ends listen.
    pub address: IpAddr,
    /// Facts of the machine.
    pub machine: Machine,
    /// The interface with the address; none if none has it.
    pub link: Option<Link>,
}

impl Hello {
    /// Version of this program, with default values for the rest.
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

/// Request to start the far end of a launch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Start {
    /// Program of the workload, `net/...`.
    pub program: String,
    pub params: BTreeMap<String, String>,
    /// Time limit, s.
    pub limit_s: u64,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Frame {
    /// From the peer, once.
    Hello(Box<Hello>),
    /// To the peer: start this.
    Start(Start),
    /// To the peer: input of the far end.
    Input(Vec<u8>),
    /// From the peer: output of the far end.
    Output(Vec<u8>),
    /// To the peer: end the far end.
    End,
    /// From the peer: the far end has exited; the reason, unless it was asked to.
    Ended(String),
    /// To the peer: the near host is alive.
    Alive,
}

impl Frame {
    /// Writes the frame.
    ///
    /// # Errors
    /// When the connection has ended.
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

    /// Reads the next frame; `None` at the end.
    ///
    /// # Errors
    /// When it is invalid, truncated, or cannot be read.
    pub fn read(from: &mut impl Read) -> io::Result<Option<Self>> {
        let mut kind = [0];
        if from.read(&mut kind)? == 0 {
            return Ok(None);
        }
        let mut length = [0; 4];
        from.read_exact(&mut length)?;
        let length = u32::from_le_bytes(length) as usize;
        let bad = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what.to_owned());
        if length > MAX_CONTENT {
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
            _ => return Err(bad("unknown kind of frame")),
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
