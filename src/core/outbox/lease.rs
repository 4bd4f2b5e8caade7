//! Who of all tabs is the sender, where there are no Web Locks: whoever has the lease, which lies in the store.

use crate::core::time::Span;

/// For how long it is given; a third of that is when it is renewed.
pub const LENGTH: Span = Span::from_secs(10);

/// What lies in the store.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lease {
    /// Whether this tab has it.
    pub mine: bool,
    /// On the wall clock in milliseconds, which all tabs share.
    pub until: f64,
}

/// The end of the lease that this tab takes or renews now; `None` while another tab has it. One that lies further ahead
/// than any can was written before the clock was set back, and holds nobody up.
pub fn take(lease: Option<Lease>, wall: f64) -> Option<f64> {
    let length = LENGTH.as_ms();
    let held = lease.is_some_and(|Lease { mine, until }| !mine && until > wall && until <= wall + length);
    (!held).then_some(wall + length)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(mine: bool, until: f64) -> Option<Lease> {
        Some(Lease { mine, until })
    }

    #[test]
    fn a_lease_is_taken_when_nobody_has_it_and_renewed_by_whom_it_belongs_to() {
        assert_eq!(take(None, 5_000.0), Some(15_000.0));
        assert_eq!(take(of(true, 9_000.0), 5_000.0), Some(15_000.0));
    }

    #[test]
    fn a_lease_of_another_tab_holds_until_its_end() {
        assert_eq!(take(of(false, 5_001.0), 5_000.0), None);
        assert_eq!(take(of(false, 15_000.0), 5_000.0), None);
        assert_eq!(take(of(false, 5_000.0), 5_000.0), Some(15_000.0));
    }

    #[test]
    fn a_clock_that_was_set_back_makes_no_lease_last_for_long() {
        assert_eq!(take(of(false, 15_001.0), 5_000.0), Some(15_000.0));
        assert_eq!(take(of(false, f64::NAN), 5_000.0), Some(15_000.0));
        assert_eq!(take(of(false, f64::INFINITY), 5_000.0), Some(15_000.0));
    }
}
