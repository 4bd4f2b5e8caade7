//! What stamps of the wall clock say after a reload, when no other clock has gone on.

use crate::core::time::Span;

/// 2020-01-01: no entry is older than this code, and a clock that says so had lost its battery.
const EARLIEST: f64 = 1_577_836_800_000.0;

/// How old an entry is. A stamp that cannot be right (from before there was this code, or from the future) tells nothing:
/// the entry counts as new, since what expires by mistake is lost.
pub fn age(created: f64, wall: f64) -> Span {
    if created >= EARLIEST { Span::from_ms(wall - created) } else { Span::ZERO }
}

/// What is left of a wait that was so long. No clock that was set makes it longer than that.
pub fn wait(left: Span, delay: f64) -> Span {
    left.min(Span::from_ms(delay))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: f64 = 1_790_000_000_000.0;

    #[test]
    fn an_entry_is_as_old_as_its_stamp_says() {
        assert_eq!(age(NOW - 5_000.0, NOW), Span::from_ms(5_000.0));
    }

    #[test]
    fn a_stamp_that_cannot_be_right_makes_nothing_old() {
        for created in [NOW + 60_000.0, 0.0, -1.0, f64::NAN, f64::NEG_INFINITY, f64::INFINITY] {
            assert_eq!(age(created, NOW), Span::ZERO, "{created}");
        }
    }

    #[test]
    fn a_wait_goes_on_after_a_reload_and_is_never_longer_than_it_was() {
        assert_eq!(wait(Span::from_ms(700.0), 1_000.0), Span::from_ms(700.0));
        assert_eq!(wait(Span::ZERO, 1_000.0), Span::ZERO);
        assert_eq!(wait(Span::from_ms(3_600_000.0), 1_000.0), Span::from_ms(1_000.0));
        assert_eq!(wait(Span::from_ms(700.0), f64::NAN), Span::ZERO);
    }
}
