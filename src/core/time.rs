//! Time as values: a span, an instant, and the two clocks of a browser folded into one.

use core::ops::{Add, Sub};

/// A span of time, counted in whole microseconds; public surfaces speak milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span(u64);

impl Span {
    /// No time at all.
    pub const ZERO: Self = Self(0);
    /// Longer than anything: "never".
    pub const MAX: Self = Self(u64::MAX);

    /// The longest that is counted down or told as a time: 10,000 years. What is longer is "never".
    pub const LONGEST: Self = Self::from_secs(315_360_000_000);

    /// From milliseconds; negative and NaN give zero, too much gives [`Span::MAX`].
    pub const fn from_ms(ms: f64) -> Self {
        Self(micros(ms))
    }

    /// From whole seconds, saturating.
    pub const fn from_secs(secs: u64) -> Self {
        Self(secs.saturating_mul(1_000_000))
    }

    /// In milliseconds; [`Span::MAX`] is infinite.
    pub const fn as_ms(self) -> f64 {
        if self.0 == u64::MAX { f64::INFINITY } else { self.0 as f64 / 1_000.0 }
    }

    /// The smallest multiple of `step` that is not below this span.
    pub const fn round_up(self, step: Self) -> Self {
        if step.0 == 0 { self } else { Self(self.0.div_ceil(step.0).saturating_mul(step.0)) }
    }

    /// Twice as long, saturating.
    pub const fn double(self) -> Self {
        Self(self.0.saturating_mul(2))
    }

    /// This share of it, rounded up.
    pub const fn part(self, numerator: u64, denominator: u64) -> Self {
        Self(self.0.saturating_mul(numerator).div_ceil(denominator))
    }

    /// How many whole steps it has.
    pub const fn in_steps(self, step: Self) -> u64 {
        self.0 / step.0
    }

    /// A tenth of it.
    pub const fn tenth(self) -> Self {
        Self(self.0 / 10)
    }
}

impl Add for Span {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Sub for Span {
    type Output = Self;
    /// Never below zero.
    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

/// The nearest whole microsecond, so that there and back again is the same.
#[cfg_attr(target_arch = "wasm32", inline(never))] // a conversion that saturates takes some room
const fn micros(ms: f64) -> u64 {
    (ms * 1_000.0 + 0.5) as u64
}

/// A moment on the core's own clock, in microseconds since an arbitrary origin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(u64);

impl Instant {
    /// A moment that never comes.
    pub const NEVER: Self = Self(u64::MAX);

    /// Milliseconds since the origin, for tests and traces.
    pub const fn from_ms(ms: f64) -> Self {
        Self(micros(ms))
    }

    /// Which slice of length `width` this moment falls into.
    pub const fn slice(self, width: Span) -> u64 {
        match width.0 {
            0 => self.0,
            width => self.0 / width,
        }
    }
}

impl Add<Span> for Instant {
    type Output = Self;
    fn add(self, span: Span) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

impl Sub<Span> for Instant {
    type Output = Self;
    fn sub(self, span: Span) -> Self {
        Self(self.0.saturating_sub(span.0))
    }
}

impl Sub for Instant {
    type Output = Span;
    /// Zero when `other` is later.
    fn sub(self, other: Self) -> Span {
        if self.0 == u64::MAX { Span::MAX } else { Span(self.0.saturating_sub(other.0)) }
    }
}

/// Folds the monotonic clock, which may stop while the machine sleeps, and the wall clock, which may be set,
/// into one that never runs backwards and never waits for a sleeping machine.
///
/// A wall clock that gains on the monotonic one by more than the noise of both tells that the machine slept, and
/// the gain counts as elapsed. One that was set back changes nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Clock {
    /// The last reading, in microseconds.
    mono: u64,
    /// The least `wall - mono` since the last gain was counted.
    offset: i64,
    now: u64,
    /// `wall - now`, kept until the wall clock is set, so that a moment has one wall time however often it is
    /// asked for.
    shift: i64,
}

impl Clock {
    /// Both clocks are rounded (the wall clock to 1 ms, the monotonic one to as much in some browsers), and the
    /// difference of two roundings is no sleep. In microseconds.
    const NOISE: i64 = 5_000;

    /// Starts at the given readings, both in milliseconds.
    pub const fn new(mono_ms: f64, wall_ms: f64) -> Self {
        let (mono, wall) = (micros(mono_ms), micros(wall_ms));
        let offset = (wall as i64).wrapping_sub(mono as i64);
        Self { mono, offset, now: mono, shift: offset }
    }

    /// What time it is, from fresh readings of both clocks in milliseconds.
    pub const fn read(&mut self, mono_ms: f64, wall_ms: f64) -> Instant {
        let mono = if mono_ms.is_finite() { micros(mono_ms) } else { self.mono };
        let wall = micros(wall_ms);
        if mono < self.mono {
            // No clock should: what the wall clock seems to gain on it is nothing that has passed.
            self.offset = (wall as i64).wrapping_sub(mono as i64);
        }
        self.now = self.now.saturating_add(mono.saturating_sub(self.mono));
        self.mono = mono;
        let offset = (wall as i64).wrapping_sub(mono as i64);
        let gain = offset.saturating_sub(self.offset);
        if gain > Self::NOISE {
            self.now = self.now.saturating_add(gain as u64);
            self.offset = offset;
        } else if gain < 0 {
            self.offset = offset;
        }
        let shift = (wall as i64).wrapping_sub(self.now as i64);
        if shift.abs_diff(self.shift) > Self::NOISE as u64 {
            self.shift = shift;
        }
        Instant(self.now)
    }

    /// The moment on the wall clock, in milliseconds since 1970, rounded up so that no countdown ends early.
    pub fn wall_ms(&self, at: Instant) -> f64 {
        if at == Instant::NEVER {
            return f64::INFINITY;
        }
        at.0.saturating_add_signed(self.shift).div_ceil(1_000) as f64
    }

    /// The moment that the wall clock shows that, whose wall time is the same again.
    pub const fn moment(&self, wall_ms: f64) -> Instant {
        Instant(micros(wall_ms).saturating_add_signed(self.shift.saturating_neg()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_saturate_and_round_up() {
        assert_eq!(Span::from_ms(f64::NAN), Span::ZERO);
        assert_eq!(Span::from_ms(-3.0), Span::ZERO);
        assert_eq!(Span::from_ms(f64::INFINITY), Span::MAX);
        assert_eq!(Span::MAX + Span::from_ms(1.0), Span::MAX);
        assert_eq!(Span::from_ms(4_200.0).round_up(Span::from_ms(1_000.0)), Span::from_ms(5_000.0));
        assert_eq!(Instant::NEVER + Span::MAX, Instant::NEVER);
        assert_eq!(Instant::from_ms(1.0) - Instant::from_ms(2.0), Span::ZERO);
    }

    #[test]
    fn a_machine_that_slept_has_lost_the_time() {
        let mut clock = Clock::new(1_000.0, 1_000_000.0);
        let before = clock.read(1_000.0, 1_000_000.0);
        // The monotonic clock stood still for ten minutes.
        assert_eq!(clock.read(1_001.0, 1_600_001.0) - before, Span::from_ms(600_001.0));
        // Counted once only.
        assert_eq!(clock.read(1_002.0, 1_600_002.0) - before, Span::from_ms(600_002.0));
    }

    #[test]
    fn a_machine_may_sleep_between_two_equal_readings_of_the_monotonic_clock() {
        let mut clock = Clock::new(1_000.0, 1_000_000.0);
        let before = clock.read(1_000.0, 1_000_000.0);
        assert_eq!(clock.read(1_000.0, 1_600_000.0) - before, Span::from_ms(600_000.0));
    }

    #[test]
    fn a_sleep_after_the_wall_clock_was_set_back_counts() {
        let mut clock = Clock::new(0.0, 10_000_000.0);
        let start = clock.read(0.0, 10_000_000.0);
        clock.read(500.0, 6_400_500.0);
        assert_eq!(clock.read(600.0, 7_000_600.0) - start, Span::from_ms(600_600.0));
    }

    #[test]
    fn no_more_than_the_noise_is_neither_a_sleep_nor_a_clock_that_was_set() {
        for (gain, slept) in [(5.0, 0.0), (5.001, 5.001)] {
            let mut clock = Clock::new(0.0, 1_000.0);
            assert_eq!(clock.read(0.0, 1_000.0 + gain), Instant::from_ms(slept));
        }
        for (back, wall) in [(5.0, 1_000.0), (6.0, 994.0)] {
            let mut clock = Clock::new(0.0, 1_000.0);
            let now = clock.read(0.0, 1_000.0 - back);
            assert_eq!(clock.wall_ms(now), wall);
        }
    }

    #[test]
    fn a_wall_clock_set_back_lengthens_nothing() {
        let mut clock = Clock::new(0.0, 10_000_000.0);
        let start = clock.read(0.0, 10_000_000.0);
        assert_eq!(clock.read(500.0, 6_400_500.0) - start, Span::from_ms(500.0));
        assert_eq!(clock.read(900.0, 6_400_900.0) - start, Span::from_ms(900.0));
    }

    #[test]
    fn rounding_of_the_clocks_makes_no_time() {
        let mut clock = Clock::new(0.0, 5_000.0);
        let start = clock.read(0.0, 5_000.0);
        let mut last = start;
        for i in 1..100_000_u32 {
            let mono = f64::from(i) * 0.1;
            last = clock.read(mono, 5_000.0 + mono.floor());
        }
        assert_eq!(last - start, Span::from_ms(9_999.9));
    }

    #[test]
    fn a_monotonic_clock_that_runs_back_gives_no_negative_time() {
        let mut clock = Clock::new(100.0, 1_000.0);
        let a = clock.read(100.0, 1_000.0);
        let b = clock.read(95.0, 1_000.0);
        assert!(b >= a);
        let c = clock.read(-4_905.0, 1_005.0);
        assert_eq!(c, b);
        assert_eq!(clock.read(10.0, 1_015.0) - c, Span::from_ms(10.0));
        assert_eq!(clock.read(f64::NAN, 1_016.0) - c, Span::from_ms(10.0));
        assert_eq!(clock.read(20.0, 1_025.0) - c, Span::from_ms(20.0));
    }

    #[test]
    fn a_moment_has_one_wall_time_until_the_wall_clock_is_set() {
        let mut clock = Clock::new(0.3, 5_000.0);
        let at = clock.read(0.3, 5_000.0) + Span::from_ms(60_000.0);
        let first = clock.wall_ms(at);
        for i in 1..10_000_u32 {
            let mono = f64::from(i) * 0.7;
            clock.read(0.3 + mono, (5_000.0 + mono).floor());
            assert_eq!(clock.wall_ms(at), first);
        }
        clock.read(7_000.0, 1_000.0);
        assert!((clock.wall_ms(at) - (1_000.0 + 53_000.0)).abs() < 5.0);
    }

    #[test]
    fn a_wall_time_is_that_of_its_moment_whatever_is_read_meanwhile() {
        let mut clock = Clock::new(0.3, 5_000.0);
        for i in 1..10_000_u32 {
            let mono = f64::from(i) * 0.7;
            clock.read(0.3 + mono, (5_000.0 + mono).floor());
            assert_eq!(clock.wall_ms(clock.moment(65_000.0)), 65_000.0);
        }
    }

    #[test]
    fn wall_times_are_rounded_up_to_the_millisecond() {
        let mut clock = Clock::new(0.25, 7_000.0);
        let now = clock.read(0.25, 7_000.0);
        assert_eq!(clock.wall_ms(now + Span::from_ms(10.5)), 7_011.0);
        assert_eq!(clock.wall_ms(now - Span::from_ms(0.25)), 7_000.0);
        assert!(clock.wall_ms(Instant::NEVER).is_infinite());
    }
}
