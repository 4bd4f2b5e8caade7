//! Keys with their circuits and budgets: bounded, and the queue of calls that wait for each.

use super::breaker::{Breaker, Refusal, Status};
use super::budget::Bucket;
use super::line::Line;
use super::policy;
use super::ramp::Ramp;
use super::shared::{LONGEST, Stamp};
use super::time::Instant;

/// Where a circuit is kept; holds as long as a call uses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CircuitId(pub u32);

/// The `scheme://host:port` of a URL that the platform has serialised; for URLs without a host, the scheme.
pub fn origin(url: &str) -> &str {
    let bytes = url.as_bytes();
    let scheme = bytes.iter().position(|&b| b == b':').map_or(bytes.len(), |at| at + 1);
    let end = match bytes.get(scheme..scheme + 2) {
        Some(b"//") => {
            let host = bytes.iter().skip(scheme + 2);
            scheme + 2 + host.take_while(|b| !matches!(b, b'/' | b'?' | b'#')).count()
        }
        _ => scheme,
    };
    url.get(..end).unwrap_or(url)
}

/// A `Retry-After` on one call holds the others of its key back too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Parked {
    /// Until when.
    pub until: Instant,
    /// The status that it came with.
    pub status: u16,
}

/// A circuit, who uses it and who waits for it.
#[derive(Clone, Debug)]
pub struct Entry {
    key: Box<str>,
    hash: u32,
    /// The circuit itself.
    pub breaker: Breaker,
    /// Calls pass the circuit. Without it the key is that of a budget alone.
    pub guarded: bool,
    /// The retry budget, once there was need of it.
    pub budget: Option<Bucket>,
    /// The circuit has closed a moment ago, and those that waited for it go slowly.
    pub ramp: Option<Ramp>,
    /// The tabs of the origin have it together; then the stamp of its last transition.
    pub shared: Option<Stamp>,
    /// When another tab last told of the circuit what is known here.
    pub heard: Option<Instant>,
    /// The epoch of the circuit when those that wait were last looked at.
    pub seen: u64,
    /// Live calls under this key, and holds by hand.
    pub users: u32,
    /// Calls that wait for their turn, in order.
    pub waiters: Line,
    /// The server asked every call to stay away.
    pub parked: Option<Parked>,
    /// What those who wait were last told.
    pub told: Option<Refusal>,
    last_used: Instant,
}

impl Entry {
    /// The key as given.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Heeds what was asked elsewhere, unless what was asked here holds longer; no longer than a day.
    pub fn park(&mut self, parked: Option<Parked>, now: Instant) {
        let bounded = |parked: Parked| Parked { until: parked.until.min(now + LONGEST), ..parked };
        self.parked = match (self.parked, parked.map(bounded)) {
            (Some(ours), Some(theirs)) if theirs.until > ours.until => Some(theirs),
            (ours, theirs) => ours.or(theirs),
        };
    }
}

/// All circuits of a client.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    entries: Vec<Option<Entry>>,
}

impl Registry {
    /// More keys than this are kept only while calls use them.
    pub const CAPACITY: usize = 1_000;

    /// The entry of `key`, made if there is none yet; without a policy its circuit is not passed. Makes room first:
    /// the longest unused goes, closed ones before others; one that a call uses never goes.
    pub fn resolve(&mut self, key: &str, policy: Option<policy::Breaker>, now: Instant) -> CircuitId {
        if let Some(id) = self.find(key) {
            if let Some(entry) = self.get_mut(id) {
                entry.last_used = now;
                entry.guarded |= policy.is_some();
                if policy.is_some_and(|policy| policy.shared) {
                    entry.shared.get_or_insert_default();
                }
            }
            return id;
        }
        let mut surplus = (self.iter().count() + 1).saturating_sub(Self::CAPACITY);
        while surplus > 0 && self.evict() {
            surplus -= 1;
        }
        let entry = Some(Entry {
            key: key.into(),
            hash: hash(key),
            breaker: Breaker::new(policy.unwrap_or_default()),
            guarded: policy.is_some(),
            budget: None,
            ramp: None,
            shared: policy.filter(|policy| policy.shared).map(|_| Stamp::default()),
            heard: None,
            seen: 0,
            users: 0,
            waiters: Line::default(),
            parked: None,
            told: None,
            last_used: now,
        });
        let free = self.entries.iter().position(Option::is_none);
        match free.and_then(|index| self.entries.get_mut(index)) {
            Some(slot) => *slot = entry,
            None => self.entries.push(entry),
        }
        CircuitId(free.unwrap_or(self.entries.len() - 1) as u32)
    }

    /// The circuit of `key`, if there is one.
    pub fn find(&self, key: &str) -> Option<CircuitId> {
        let hash = hash(key);
        let same = |entry: &Option<Entry>| entry.as_ref().is_some_and(|e| e.hash == hash && *e.key == *key);
        self.entries.iter().position(same).map(|index| CircuitId(index as u32))
    }

    /// The entry, if it is still there.
    pub fn get(&self, id: CircuitId) -> Option<&Entry> {
        self.entries.get(id.0 as usize)?.as_ref()
    }

    /// The entry, if it is still there.
    pub fn get_mut(&mut self, id: CircuitId) -> Option<&mut Entry> {
        self.entries.get_mut(id.0 as usize)?.as_mut()
    }

    /// All circuits, in the order of their places.
    pub fn iter(&self) -> impl Iterator<Item = (CircuitId, &Entry)> {
        self.entries.iter().zip(0..).filter_map(|(entry, index)| Some((CircuitId(index), entry.as_ref()?)))
    }

    /// One more than the highest place in use.
    pub fn places(&self) -> u32 {
        self.entries.len() as u32
    }

    /// False if there is none that may go.
    fn evict(&mut self) -> bool {
        let idle = self.iter().filter(|(_, entry)| entry.users == 0);
        let oldest = idle.min_by_key(|(_, e)| (e.breaker.status() != Status::Closed, e.last_used));
        if let Some((id, _)) = oldest
            && let Some(slot) = self.entries.get_mut(id.0 as usize)
        {
            *slot = None;
            return true;
        }
        false
    }
}

/// FNV-1a, to compare most keys by one number.
fn hash(key: &str) -> u32 {
    key.bytes().fold(0x811C_9DC5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_origin_is_what_comes_before_the_path() {
        for (url, expected) in [
            ("https://a.test/x/y?z#w", "https://a.test"),
            ("http://127.0.0.1:8080/", "http://127.0.0.1:8080"),
            ("https://a.test?q", "https://a.test"),
            ("https://[::1]:9/x", "https://[::1]:9"),
            ("data:text/plain,https://b.test/", "data:"),
            ("blob:https://a.test/123", "blob:"),
            ("", ""),
            ("x", "x"),
        ] {
            assert_eq!(origin(url), expected);
        }
    }

    fn fill(registry: &mut Registry, from: usize, to: usize) {
        for i in from..to {
            let id = registry.resolve(
                &format!("k{i}"),
                Some(policy::Breaker::default()),
                Instant::from_ms(i as f64),
            );
            assert_eq!(registry.get(id).map(Entry::key), Some(&*format!("k{i}")));
        }
    }

    #[test]
    fn twenty_thousand_keys_keep_a_thousand() {
        let mut registry = Registry::default();
        fill(&mut registry, 0, 20_000);
        assert_eq!(registry.iter().count(), Registry::CAPACITY);
        assert_eq!(registry.find("k18999"), None);
        assert!(registry.find("k19000").is_some());
    }

    #[test]
    fn after_a_burst_the_bound_holds_again() {
        let mut registry = Registry::default();
        for i in 0..3_000 {
            let id = registry.resolve(&format!("k{i}"), Some(policy::Breaker::default()), Instant::default());
            registry.get_mut(id).unwrap().users = 1;
        }
        let busy: Vec<_> = registry.iter().map(|(id, _)| id).collect();
        assert_eq!(busy.len(), 3_000, "those in use stay");
        for id in busy {
            registry.get_mut(id).unwrap().users = 0;
        }
        fill(&mut registry, 5_000, 5_001);
        assert_eq!(registry.iter().count(), Registry::CAPACITY);
    }

    #[test]
    fn closed_and_idle_circuits_go_first_and_used_ones_never() {
        let mut registry = Registry::default();
        fill(&mut registry, 0, Registry::CAPACITY);
        for (key, used) in [("k0", true), ("k1", false)] {
            let id = registry.find(key).unwrap();
            let entry = registry.get_mut(id).unwrap();
            entry.users = u32::from(used);
            entry.breaker.isolate();
        }
        fill(&mut registry, 1_000, 1_998);
        assert!(registry.find("k0").is_some() && registry.find("k1").is_some());
        assert_eq!(registry.find("k999"), None);
        fill(&mut registry, 2_000, 3_100);
        assert!(registry.find("k0").is_some());
    }

    #[test]
    fn keys_with_the_same_hash_are_told_apart() {
        // A known collision of 32-bit FNV-1a.
        assert_eq!(hash("costarring"), hash("liquid"));
        let mut registry = Registry::default();
        let a = registry.resolve("costarring", Some(policy::Breaker::default()), Instant::default());
        assert_ne!(a, registry.resolve("liquid", Some(policy::Breaker::default()), Instant::default()));
    }
}
