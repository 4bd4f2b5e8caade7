//! After a circuit has closed, those that wait for it are let go slowly: a server that has just recovered would not
//! survive them all at once. Fresh calls always pass.

use super::time::{Instant, Span};

/// Gives each that waits its moment: after t seconds no more than t/10 of them were let go, or a tenth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ramp {
    began: Instant,
    /// How many waited when the circuit closed.
    size: u32,
    /// How many moments were given away, those of the queue first.
    taken: u32,
    /// How many of the queue have gone.
    gone: u32,
}

impl Ramp {
    /// After this time everything passes.
    const LENGTH: Span = Span::from_secs(10);

    /// Begins to let go a `queue`, and `others` that wait elsewhere; none where that is no crowd.
    pub fn new(queue: u32, others: u32, now: Instant) -> Option<Self> {
        let size = queue.saturating_add(others);
        (size > 1).then_some(Self { began: now, size, taken: queue, gone: 0 })
    }

    /// Whether it is over.
    pub fn is_over(&self, now: Instant) -> bool {
        now - self.began >= Self::LENGTH
    }

    /// When that one may go, counted from zero.
    pub fn moment(&self, index: u32) -> Instant {
        let (index, size) = (u64::from(index), u64::from(self.size));
        let at_once = index < size.div_ceil(10);
        self.began + if at_once { Span::ZERO } else { Self::LENGTH.part((index + 1).min(size), size) }
    }

    /// When the next of the queue may go.
    pub fn next(&self) -> Instant {
        self.moment(self.gone)
    }

    /// It goes.
    pub fn go(&mut self) {
        self.gone = self.gone.saturating_add(1);
    }

    /// The moment of one that is not in the queue.
    pub fn take(&mut self) -> Instant {
        let at = self.moment(self.taken);
        self.taken = self.taken.saturating_add(1);
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tenth_goes_at_once_and_the_rest_evenly_in_ten_seconds() {
        let mut ramp = Ramp::new(0, 20, Instant::from_ms(500.0)).unwrap();
        let moments: Vec<f64> = (0..20).map(|_| (ramp.take() - Instant::from_ms(500.0)).as_ms()).collect();
        let mut expected = vec![0.0, 0.0];
        expected.extend((3..=20).map(|i| f64::from(i) * 500.0));
        assert_eq!(moments, expected);
        // Those that come late do not come later than its end.
        assert_eq!(ramp.take(), Instant::from_ms(10_500.0));
    }

    #[test]
    fn at_no_moment_have_more_gone_than_the_tenth_or_their_share() {
        for size in [2, 3, 9, 10, 11, 99, 1_000, 100_000] {
            let mut ramp = Ramp::new(0, size, Instant::default()).unwrap();
            for gone in 1..=size {
                let t = (ramp.take() - Instant::default()).as_ms() / 10_000.0;
                let allowed = (f64::from(size) * t).max((f64::from(size) / 10.0).ceil());
                assert!(f64::from(gone) <= allowed + 1e-6, "{gone} of {size} at {t}");
            }
        }
    }

    #[test]
    fn one_that_waits_alone_is_no_crowd() {
        assert_eq!(Ramp::new(1, 0, Instant::default()), None);
        assert_eq!(Ramp::new(0, 1, Instant::default()), None);
    }

    #[test]
    fn the_queue_goes_in_order_and_before_the_others() {
        let mut ramp = Ramp::new(10, 10, Instant::default()).unwrap();
        assert_eq!(ramp.take(), Instant::from_ms(5_500.0));
        let mut moments = vec![];
        for _ in 0..10 {
            moments.push((ramp.next() - Instant::default()).as_ms());
            ramp.go();
        }
        assert_eq!(
            moments,
            [0.0, 0.0, 1_500.0, 2_000.0, 2_500.0, 3_000.0, 3_500.0, 4_000.0, 4_500.0, 5_000.0]
        );
    }
}
