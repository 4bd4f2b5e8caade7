//! How long to wait: exponential growth, its ceiling, and the jitter (semantics 4).

use super::policy::{Jitter, Retry};
use super::rng::Rng;
use super::time::Span;

/// The wait before retry `n` (from 0). `previous` is the last wait of a decorrelated series.
///
/// The ceiling comes before the jitter, so that clients never pile up on it. Random parts are whole
/// milliseconds, rounded down.
pub fn wait(retry: &Retry, n: u32, previous: Option<Span>, rng: &mut Rng) -> Span {
    let (delay, limit) = (retry.delay.as_ms(), retry.backoff_limit.as_ms());
    let ceiling = if delay == 0.0 { 0.0 } else { (delay * power(retry.factor, n)).min(limit) };
    let mut upto = |width: f64| (width * rng.unit()).floor();
    Span::from_ms(match retry.jitter {
        Jitter::Full => upto(ceiling),
        Jitter::Equal => ceiling / 2.0 + upto(ceiling / 2.0),
        Jitter::Decorrelated => {
            let previous = previous.map_or(delay, Span::as_ms);
            (delay + upto((3.0 * previous - delay).max(0.0))).min(limit)
        }
        Jitter::None => ceiling,
    })
}

/// A span drawn evenly from zero to `width`, in whole milliseconds; zero when `jitter` is `None`.
pub fn spread(width: Span, jitter: Jitter, rng: &mut Rng) -> Span {
    match jitter {
        Jitter::None => Span::ZERO,
        _ => Span::from_ms((width.as_ms() * rng.unit()).floor()),
    }
}

/// `base^n` by squaring, for any `n`; overflow is infinite. (`powf` would pull a large table into the wasm.)
fn power(mut base: f64, mut n: u32) -> f64 {
    let mut result = 1.0;
    while n > 0 {
        if n & 1 == 1 {
            result *= base;
        }
        base *= base;
        n >>= 1;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waits(jitter: Jitter, delay: f64, factor: f64, limit: f64, n: u32) -> Vec<f64> {
        let retry = Retry {
            jitter,
            factor,
            delay: Span::from_ms(delay),
            backoff_limit: Span::from_ms(limit),
            ..Retry::default()
        };
        let mut rng = Rng::new(7);
        (0..1_000).map(|_| wait(&retry, n, None, &mut rng).as_ms()).collect()
    }

    #[test]
    fn without_jitter_the_wait_grows_by_the_factor_up_to_the_ceiling() {
        let at = |n| waits(Jitter::None, 250.0, 2.0, 8_000.0, n)[0];
        assert_eq!(
            [0, 1, 2, 3, 4, 5, 6].map(at),
            [250.0, 500.0, 1_000.0, 2_000.0, 4_000.0, 8_000.0, 8_000.0]
        );
        assert_eq!(waits(Jitter::None, 250.0, 1.5, 8_000.0, 2)[0], 562.5);
    }

    #[test]
    fn any_number_of_retries_stays_at_the_ceiling() {
        for factor in [2.0, 10.0, 1.0000001, 1e308] {
            for n in [1_100, 10_000, u32::MAX] {
                let wait = waits(Jitter::None, 2_000.0, factor, 300_000.0, n)[0];
                assert!((2_000.0..=300_000.0).contains(&wait), "{factor} {n} {wait}");
            }
        }
        assert_eq!(waits(Jitter::None, 0.0, 1e308, 10.0, u32::MAX)[0], 0.0);
        assert_eq!(waits(Jitter::None, 1.0, 2.0, f64::INFINITY, 5_000)[0], f64::INFINITY);
    }

    #[test]
    fn jitter_stays_in_its_bounds_and_spreads() {
        for (jitter, low) in [(Jitter::Full, 0.0), (Jitter::Equal, 500.0)] {
            let drawn = waits(jitter, 400.0, 2.0, 1_000.0, 9);
            assert!(drawn.iter().all(|w| (low..=1_000.0).contains(w)));
            let mean = drawn.iter().sum::<f64>() / 1_000.0;
            let deviation = (drawn.iter().map(|w| (w - mean).powi(2)).sum::<f64>() / 1_000.0).sqrt();
            assert!(deviation > 0.2 * (1_000.0 - low), "{jitter:?} {deviation}");
        }
    }

    #[test]
    fn decorrelated_waits_lie_between_the_delay_and_three_times_the_last() {
        let retry = Retry { jitter: Jitter::Decorrelated, ..Retry::default() };
        let mut rng = Rng::new(1);
        let mut previous = None;
        for n in 0..1_000 {
            let next = wait(&retry, n, previous, &mut rng);
            let last = previous.unwrap_or(retry.delay).as_ms();
            assert!(next >= retry.delay && next.as_ms() <= (3.0 * last).min(8_000.0));
            previous = Some(next);
        }
    }

    #[test]
    fn decorrelated_waits_use_the_whole_of_their_range() {
        let retry = Retry { jitter: Jitter::Decorrelated, delay: Span::from_ms(100.0), ..Retry::default() };
        let mut rng = Rng::new(1);
        let last = Some(Span::from_ms(1_000.0));
        let drawn: Vec<f64> = (0..1_000).map(|_| wait(&retry, 1, last, &mut rng).as_ms()).collect();
        assert!(drawn.iter().any(|wait| *wait < 130.0) && drawn.iter().any(|wait| *wait > 2_970.0));
    }
}
