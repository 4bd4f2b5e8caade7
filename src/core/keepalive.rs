//! What the browser lends to `keepalive` requests, which may outlive their page: 64 KiB of bodies in flight for all
//! of a page together (Fetch standard, "HTTP-network-or-cache fetch", inflightKeepaliveBytes), and in Chromium a
//! number of requests. Beyond it `fetch` rejects at once, as if the network had failed.

/// What is in flight, kept well below the quota since others of the page use it too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quota {
    bytes: u32,
    requests: u32,
}

impl Quota {
    /// The most that bodies in flight may add up to.
    pub const MAX_BYTES: u32 = 60 * 1_024;
    /// The most requests in flight.
    pub const MAX_REQUESTS: u32 = 9;

    /// Nothing is in flight.
    pub const fn new() -> Self {
        Self { bytes: 0, requests: 0 }
    }

    /// Takes a place for a body of so many bytes. False if there is none: then it is sent without `keepalive`.
    pub const fn admit(&mut self, bytes: u32) -> bool {
        let left = Self::MAX_BYTES.saturating_sub(self.bytes);
        let room = bytes <= left && self.requests < Self::MAX_REQUESTS;
        if room {
            self.take(bytes);
        }
        room
    }

    /// Takes a place whether there is one or not: the browser will tell.
    pub const fn take(&mut self, bytes: u32) {
        self.bytes = self.bytes.saturating_add(bytes);
        self.requests = self.requests.saturating_add(1);
    }

    /// Gives back what [`admit`](Self::admit) took.
    pub const fn release(&mut self, bytes: u32) {
        self.bytes = self.bytes.saturating_sub(bytes);
        self.requests = self.requests.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_in_flight_stay_below_the_quota_of_the_browser() {
        let mut quota = Quota::new();
        assert!(quota.admit(30 * 1_024));
        assert!(quota.admit(30 * 1_024));
        assert!(!quota.admit(1));
        assert!(quota.admit(0));
        quota.release(30 * 1_024);
        assert!(!quota.admit(u32::MAX));
        quota.take(70_000);
        assert!(!quota.admit(1));
        quota.release(70_000);
        assert!(quota.admit(30 * 1_024));
    }

    #[test]
    fn nine_requests_at_most() {
        let mut quota = Quota::new();
        assert_eq!((0..12).filter(|_| quota.admit(1)).count(), 9);
        quota.release(1);
        assert!(quota.admit(1));
        assert!(!quota.admit(0));
    }
}
