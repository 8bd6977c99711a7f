//! Budgets of server time. Each client has a token bucket of seconds; addresses and tokens have separate buckets.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Server time of a client.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Seconds of work per second, in the long run.
    pub per_second: f64,
    /// Seconds of work at once.
    pub burst: f64,
}

/// Clients beyond these share one bucket.
const MAX_BUCKETS: usize = 10_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Client {
    /// An address; for IPv6 the network, since a client owns all addresses in it.
    Address(IpAddr),
    /// The SHA-256 of a token, valid or not.
    Token([u8; 32]),
    /// Clients beyond the limit.
    Others,
}

impl Client {
    pub(crate) fn from_address(address: IpAddr) -> Self {
        Self::Address(match address.to_canonical() {
            IpAddr::V6(address) => IpAddr::V6((address.to_bits() & !u128::from(u64::MAX)).into()),
            address @ IpAddr::V4(_) => address,
        })
    }
}

/// The client of a request: its address and its token.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Caller {
    pub(crate) address: Client,
    pub(crate) token: Option<Client>,
}

impl Caller {
    fn clients(&self) -> impl Iterator<Item = Client> {
        [Some(self.address), self.token].into_iter().flatten()
    }
}

#[derive(Clone, Copy)]
struct Bucket {
    /// Seconds; negative after a request that took longer than was left.
    left: f64,
    time: Instant,
}

impl Bucket {
    fn seconds_left(self, budget: Budget, now: Instant) -> f64 {
        let passed = now.saturating_duration_since(self.time).as_secs_f64();
        (self.left + passed * budget.per_second).min(budget.burst)
    }
}

/// The buckets of all clients.
pub(crate) struct Budgets {
    budget: Budget,
    buckets: Mutex<HashMap<Client, Bucket>>,
}

impl Budgets {
    pub(crate) fn new(budget: Budget) -> Self {
        Self { budget, buckets: Mutex::default() }
    }

    /// Whether a caller may send another request; the error is the time to wait.
    pub(crate) fn check(&self, caller: &Caller, now: Instant) -> Result<(), Duration> {
        let buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        for client in caller.clients() {
            let bucket = buckets.get(&client).or_else(|| match buckets.len() < MAX_BUCKETS {
                true => None,
                false => buckets.get(&Client::Others),
            });
            let left =
                bucket.map_or(self.budget.burst, |bucket| bucket.seconds_left(self.budget, now));
            if left <= 0.0 {
                // a second more than the debt takes, which earns enough for a small page
                return Err(Duration::from_secs_f64(1.0 - left / self.budget.per_second));
            }
        }
        Ok(())
    }

    /// Charges a caller for work.
    pub(crate) fn charge(&self, caller: &Caller, work: Duration, now: Instant) {
        let budget = self.budget;
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        for client in caller.clients() {
            if buckets.len() >= MAX_BUCKETS && !buckets.contains_key(&client) {
                // a full bucket need not be stored
                buckets.retain(|_, bucket| bucket.seconds_left(budget, now) < budget.burst);
            }
            let client = match buckets.len() >= MAX_BUCKETS && !buckets.contains_key(&client) {
                true => Client::Others,
                false => client,
            };
            let full = Bucket { left: budget.burst, time: now };
            let bucket = buckets.entry(client).or_insert(full);
            let left = bucket.seconds_left(budget, now) - work.as_secs_f64();
            *bucket = Bucket { left, time: now };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    const BUDGET: Budget = Budget { per_second: 0.5, burst: 3.0 };

    fn caller(number: u32) -> Caller {
        Caller { address: Client::from_address(Ipv4Addr::from(number).into()), token: None }
    }

    #[test]
    fn budgets_refill_over_time() {
        let (budgets, start) = (Budgets::new(BUDGET), Instant::now());
        let after = |seconds| start + Duration::from_secs(seconds);
        let work = Duration::from_secs(2);
        budgets.charge(&caller(1), work, after(0));
        budgets.check(&caller(1), after(0)).unwrap();
        budgets.charge(&caller(1), work, after(0));
        // a debt of a second takes two seconds; the wait is at least one
        assert_eq!(budgets.check(&caller(1), after(0)), Err(Duration::from_secs(3)));
        assert_eq!(budgets.check(&caller(1), after(1)), Err(Duration::from_secs(2)));
        budgets.check(&caller(2), after(1)).unwrap();
        budgets.check(&caller(1), after(3)).unwrap();
        // a bucket does not exceed its burst
        budgets.charge(&caller(1), 2 * work, after(3600));
        budgets.check(&caller(1), after(3600)).unwrap_err();
    }

    #[test]
    fn tokens_have_separate_budgets() {
        let (budgets, now) = (Budgets::new(BUDGET), Instant::now());
        let with_token = |number| Caller { token: Some(Client::Token([7; 32])), ..caller(number) };
        budgets.charge(&with_token(1), Duration::from_secs(4), now);
        budgets.check(&with_token(2), now).unwrap_err();
        budgets.check(&caller(2), now).unwrap();
        budgets.check(&caller(1), now).unwrap_err();
    }

    #[test]
    fn memory_is_bounded() {
        let (budgets, now) = (Budgets::new(BUDGET), Instant::now());
        let second = Duration::from_secs(1);
        let more = MAX_BUCKETS as u32 + 100;
        for number in 0..more {
            budgets.charge(&caller(number), second, now);
        }
        assert!(budgets.buckets.lock().unwrap().len() <= MAX_BUCKETS + 1);
        // further clients share a bucket
        budgets.check(&caller(more), now).unwrap_err();
        budgets.check(&caller(1), now).unwrap();
        // full buckets are removed, which makes room
        budgets.charge(&caller(more), second, now + 60 * second);
        assert!(budgets.buckets.lock().unwrap().len() <= 2);
    }

    #[test]
    fn networks_are_one_client() {
        let client = |text: &str| Client::from_address(text.parse().unwrap());
        assert_eq!(client("2001:db8::1"), client("2001:db8::2:3:4:5"));
        assert_ne!(client("2001:db8::1"), client("2001:db8:0:1::1"));
        assert_ne!(client("10.0.0.1"), client("10.0.0.2"));
        assert_eq!(client("::ffff:10.0.0.1"), client("10.0.0.1"));
    }
}
