//! How often a client may ask: as many requests at once as its bucket holds, which fills again by and by. Addresses and tokens have
//! buckets of their own.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How often a client may ask.
#[derive(Clone, Copy, Debug)]
pub struct Rate {
    /// Requests in a second, over a long time.
    pub per_second: f64,
    /// Requests at once.
    pub burst: f64,
}

/// Buckets at most. Where there are more clients than that at once, the others share one.
const CLIENTS: usize = 10_000;

/// Who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Client {
    /// An address; of IPv6 the network, of which a client has all addresses.
    Address(IpAddr),
    /// The SHA-256 of a token, whether it is one of ours or not.
    Token([u8; 32]),
    /// Those for which there is no room.
    Others,
}

impl Client {
    pub(crate) fn at(address: IpAddr) -> Self {
        Self::Address(match address.to_canonical() {
            IpAddr::V6(of) => IpAddr::V6((of.to_bits() & !u128::from(u64::MAX)).into()),
            of @ IpAddr::V4(_) => of,
        })
    }
}

struct Bucket {
    left: f64,
    at: Instant,
}

impl Bucket {
    fn filled(&self, rate: Rate, now: Instant) -> f64 {
        let passed = now.saturating_duration_since(self.at).as_secs_f64();
        (self.left + passed * rate.per_second).min(rate.burst)
    }
}

/// The buckets of all clients.
pub(crate) struct Buckets {
    rate: Rate,
    of: Mutex<HashMap<Client, Bucket>>,
}

impl Buckets {
    pub(crate) fn new(rate: Rate) -> Self {
        Self {
            rate,
            of: Mutex::default(),
        }
    }

    /// Takes a request out of a bucket, or says after how long there will be one.
    pub(crate) fn take(&self, client: Client, now: Instant) -> Result<(), Duration> {
        let rate = self.rate;
        let mut of = self.of.lock().unwrap_or_else(PoisonError::into_inner);
        if of.len() >= CLIENTS && !of.contains_key(&client) {
            // one that is full is as good as none
            of.retain(|_, bucket| bucket.filled(rate, now) < rate.burst);
        }
        let client = match of.len() >= CLIENTS && !of.contains_key(&client) {
            true => Client::Others,
            false => client,
        };
        let bucket = of.entry(client).or_insert(Bucket {
            left: rate.burst,
            at: now,
        });
        let left = bucket.filled(rate, now);
        *bucket = Bucket {
            left: if left < 1.0 { left } else { left - 1.0 },
            at: now,
        };
        match left < 1.0 {
            true => Err(Duration::from_secs_f64((1.0 - left) / rate.per_second)),
            false => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    const RATE: Rate = Rate {
        per_second: 2.0,
        burst: 3.0,
    };

    fn client(number: u32) -> Client {
        Client::at(Ipv4Addr::from(number).into())
    }

    #[test]
    fn a_bucket_holds_so_many_and_fills_again() {
        let (buckets, start) = (Buckets::new(RATE), Instant::now());
        let take = |client, ms| buckets.take(client, start + Duration::from_millis(ms));
        for _ in 0..3 {
            take(client(1), 0).unwrap();
        }
        assert_eq!(take(client(1), 0), Err(Duration::from_millis(500)));
        assert_eq!(take(client(1), 250), Err(Duration::from_millis(250)));
        // that of another is another's
        take(client(2), 250).unwrap();
        take(client(1), 500).unwrap();
        take(client(1), 500).unwrap_err();
        // never more than it holds
        let granted = (0..10).filter(|_| take(client(1), 3_600_000).is_ok());
        assert_eq!(granted.count(), 3);
    }

    #[test]
    fn memory_is_bounded_and_those_without_room_share_a_bucket() {
        let (buckets, now) = (Buckets::new(RATE), Instant::now());
        for number in 0..CLIENTS as u32 {
            buckets.take(client(number), now).unwrap();
        }
        let more = (0..100).filter(|n| buckets.take(client(CLIENTS as u32 + n), now).is_ok());
        assert_eq!(more.count(), 3);
        assert!(buckets.of.lock().unwrap().len() <= CLIENTS + 1);
        // when they are full again there is room
        let later = now + Duration::from_secs(60);
        buckets.take(client(CLIENTS as u32), later).unwrap();
        assert!(buckets.of.lock().unwrap().len() <= 2);
    }

    #[test]
    fn addresses_of_one_network_are_one_client() {
        let at = |text: &str| Client::at(text.parse().unwrap());
        assert_eq!(at("2001:db8::1"), at("2001:db8::2:3:4:5"));
        assert_ne!(at("2001:db8::1"), at("2001:db8:0:1::1"));
        assert_ne!(at("10.0.0.1"), at("10.0.0.2"));
        assert_eq!(at("::ffff:10.0.0.1"), at("10.0.0.1"));
    }
}
