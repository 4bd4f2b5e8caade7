//! What a server says about when to come back: `Retry-After` and its kin, and HTTP-dates.
//!
//! Written here and not taken from a crate: `httpdate` 1.0 refuses a leap second and reads two-digit years by a
//! fixed pivot, where RFC 9110 5.6.7 allows the one and asks for a sliding 50-year rule for the other.

use super::time::Span;

/// Seconds since 1970 from which a number in `RateLimit-Reset` is a moment, not a span (31 years as a span).
const EPOCH_FROM: u64 = 1_000_000_000;

/// The headers of a response that tell about time, as read by `Headers.get`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Timing<'a> {
    /// `Retry-After` (RFC 9110 10.2.3).
    pub retry_after: Option<&'a str>,
    /// `RateLimit-Reset` (draft-ietf-httpapi-ratelimit-headers).
    pub rate_limit_reset: Option<&'a str>,
    /// `X-RateLimit-Reset`, its forerunner.
    pub x_rate_limit_reset: Option<&'a str>,
    /// `Date` (RFC 9110 6.6.1), the server's own clock.
    pub date: Option<&'a str>,
    /// Whether an `Age` is present: then the `Date` is of an older answer.
    pub aged: bool,
}

/// Which header told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HintSource {
    /// `Retry-After`.
    RetryAfter,
    /// `RateLimit-Reset` or `X-RateLimit-Reset`.
    RateLimit,
}

/// The least wait that the server asks for, from the arrival of the headers; never zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Hint {
    /// How long to stay away.
    pub wait: Span,
    /// Who says so.
    pub source: HintSource,
}

impl Hint {
    /// The first header that says something wins; zero and past moments mean "no minimum". `wall_ms` is the
    /// client's wall clock at the arrival of the headers, in milliseconds since 1970.
    pub fn read(timing: &Timing<'_>, wall_ms: f64) -> Option<Self> {
        let date = timing.date.filter(|_| !timing.aged).map(trimmed);
        // Where the server's clock is readable, the client's does not matter.
        let server = date.and_then(|date| http_date(date, seconds(wall_ms)));
        let now_ms = server.map_or(wall_ms, |at| at as f64 * 1_000.0);
        let until = |at: f64| Span::from_ms((at * 1_000.0 - now_ms).max(0.0).ceil());
        let reset = |value: &str| {
            let number = digits(trimmed(value))?;
            Some(if number < EPOCH_FROM { Span::from_secs(number) } else { until(number as f64) })
        };
        let retry_after = |value: &str| {
            let value = trimmed(value);
            let date = || http_date(value, seconds(now_ms)).map(|at| until(at as f64));
            digits(value).map(Span::from_secs).or_else(date)
        };
        let (wait, source) = match timing.retry_after.and_then(retry_after) {
            Some(wait) => (wait, HintSource::RetryAfter),
            None => {
                let wait = timing.rate_limit_reset.and_then(reset);
                (wait.or_else(|| timing.x_rate_limit_reset.and_then(reset))?, HintSource::RateLimit)
            }
        };
        (wait > Span::ZERO).then_some(Self { wait, source })
    }
}

/// A value without the whitespace around it, which is spaces and tabs (RFC 9110 5.6.3) and no other.
const fn trimmed(value: &str) -> &[u8] {
    let mut rest = value.as_bytes();
    while let [b' ' | b'\t', tail @ ..] = rest {
        rest = tail;
    }
    while let [head @ .., b' ' | b'\t'] = rest {
        rest = head;
    }
    rest
}

/// Whole seconds of a clock that says milliseconds, whatever it says.
fn seconds(ms: f64) -> i64 {
    let (first, last) = (-62_167_219_200.0, 253_402_300_799.0); // the years 0 to 9999
    (ms / 1_000.0).floor().max(first).min(last) as i64
}

/// `1*DIGIT`, saturating; anything else is nothing.
fn digits(text: &[u8]) -> Option<u64> {
    let mut number = None;
    for byte in text {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        number = Some(number.unwrap_or(0_u64).saturating_mul(10).saturating_add(u64::from(digit)));
    }
    number
}

/// Seconds since 1970 of an HTTP-date in any of its three forms (RFC 9110 5.6.7); case-sensitive. `now`, in the
/// same seconds and of the years 0 to 9999, is for the two-digit years of the RFC 850 form.
pub fn http_date(text: &[u8], now: i64) -> Option<i64> {
    let mut rest = Cursor(text);
    let weekday = rest.until_not(u8::is_ascii_alphabetic);
    let form = DAYS.iter().find_map(|day| match weekday.strip_prefix(&day.as_bytes()[..3])? {
        b"" => Some(true),
        long if long == &day.as_bytes()[3..] => Some(false),
        _ => None,
    })?;
    let (mut year, month, day, time);
    if !form {
        // RFC 850: "Sunday, 06-Nov-94 08:49:37 GMT"
        rest.skip(b", ")?;
        day = rest.number(2)?;
        rest.skip(b"-")?;
        month = rest.month()?;
        rest.skip(b"-")?;
        year = rest.number(2)?;
        rest.skip(b" ")?;
        time = rest.time()?;
        rest.skip(b" GMT")?;
        year = full_year(year, month, day, time, now);
    } else if rest.skip(b", ").is_some() {
        // IMF-fixdate: "Sun, 06 Nov 1994 08:49:37 GMT"
        day = rest.number(2)?;
        rest.skip(b" ")?;
        month = rest.month()?;
        rest.skip(b" ")?;
        year = rest.number(4)?;
        rest.skip(b" ")?;
        time = rest.time()?;
        rest.skip(b" GMT")?;
    } else {
        // asctime: "Sun Nov  6 08:49:37 1994"
        rest.skip(b" ")?;
        month = rest.month()?;
        rest.skip(b" ")?;
        day = if rest.skip(b" ").is_some() { rest.number(1)? } else { rest.number(2)? };
        rest.skip(b" ")?;
        time = rest.time()?;
        rest.skip(b" ")?;
        year = rest.number(4)?;
    }
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let last = match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    (rest.0.is_empty() && (1..=last).contains(&day)).then(|| moment(year, month, day, time))
}

const DAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const MONTHS: &[u8; 36] = b"JanFebMarAprMayJunJulAugSepOctNovDec";

/// Reads a date from left to right.
struct Cursor<'a>(&'a [u8]);

impl<'a> Cursor<'a> {
    fn until_not(&mut self, want: impl Fn(&u8) -> bool) -> &'a [u8] {
        let end = self.0.iter().position(|byte| !want(byte)).unwrap_or(self.0.len());
        let (head, tail) = self.0.split_at_checked(end).unwrap_or((self.0, &[]));
        self.0 = tail;
        head
    }

    fn skip(&mut self, text: &[u8]) -> Option<()> {
        self.0 = self.0.strip_prefix(text)?;
        Some(())
    }

    fn number(&mut self, width: usize) -> Option<i64> {
        let (head, tail) = self.0.split_at_checked(width)?;
        self.0 = tail;
        digits(head).map(|number| number as i64)
    }

    /// From 1.
    fn month(&mut self) -> Option<i64> {
        let (head, tail) = self.0.split_at_checked(3)?;
        self.0 = tail;
        MONTHS.chunks_exact(3).zip(1..).find_map(|(name, month)| (name == head).then_some(month))
    }

    /// Seconds of the day; a leap second is allowed.
    fn time(&mut self) -> Option<i64> {
        let hour = self.number(2)?;
        self.skip(b":")?;
        let minute = self.number(2)?;
        self.skip(b":")?;
        let second = self.number(2)?;
        (hour < 24 && minute < 60 && second <= 60).then_some(hour * 3_600 + minute * 60 + second)
    }
}

/// The year that two digits mean: the last in which the moment is not more than 50 years ahead (RFC 9110 5.6.7).
const fn full_year(two: i64, month: i64, day: i64, time: i64, now: i64) -> i64 {
    // Near enough: at most a day or so from the Gregorian year.
    let this_year = 1970 + now.div_euclid(31_556_952);
    let mut year = this_year - this_year.rem_euclid(100) + two + 100;
    while moment(year - 50, month, day, time) > now {
        year -= 100;
    }
    year
}

/// Seconds since 1970.
const fn moment(year: i64, month: i64, day: i64, time: i64) -> i64 {
    days(year, month, day) * 86_400 + time
}

/// Days since 1970-01-01 in the Gregorian calendar (Hinnant, "chrono-compatible low-level date algorithms").
const fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year - era * 400;
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2030-01-01T00:00:00Z.
    const NOW: i64 = 1_893_456_000;

    fn date(text: &str) -> Option<i64> {
        http_date(text.as_bytes(), NOW)
    }

    #[test]
    fn all_three_forms_of_a_date_say_the_same() {
        for text in
            ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"]
        {
            assert_eq!(date(text), Some(784_111_777), "{text}");
        }
        assert_eq!(date("Sat Jan 15 23:59:59 2028"), Some(1_831_593_599));
    }

    #[test]
    fn every_day_of_400_years_counts_one_more() {
        let mut last = days(1599, 12, 31);
        for year in 1600..2000 {
            for month in 1..=12 {
                for day in 1..=31 {
                    let text = format!(
                        "Mon, {day:02} {} {year} 00:00:00 GMT",
                        &core::str::from_utf8(MONTHS).unwrap()[(month - 1) * 3..month * 3]
                    );
                    if let Some(at) = date(&text) {
                        last += 1;
                        assert_eq!(at, last * 86_400, "{text}");
                    }
                }
            }
        }
        assert_eq!(last, days(1999, 12, 31));
        assert_eq!(last, 10_956);
    }

    #[test]
    fn leap_seconds_are_allowed_and_nothing_beyond() {
        assert_eq!(date("Sat, 31 Dec 2016 23:59:60 GMT"), date("Sun, 01 Jan 2017 00:00:00 GMT"));
        for bad in ["23:59:61", "24:00:00", "12:60:00", "1:02:03", "12:00:0", "-1:00:00"] {
            assert_eq!(date(&format!("Sat, 31 Dec 2016 {bad} GMT")), None, "{bad}");
        }
    }

    #[test]
    fn two_digit_years_are_at_most_50_years_ahead() {
        for (this_year, two, year) in [
            (2026, 76, 2076),
            (2026, 77, 1977),
            (2026, 26, 2026),
            (2026, 0, 2000),
            (2080, 20, 2120),
            (1999, 40, 2040),
        ] {
            let new_year = moment(this_year, 1, 1, 0);
            assert_eq!(full_year(two, 1, 1, 0, new_year), year, "{two} in {this_year}");
        }
    }

    #[test]
    fn what_is_no_date_is_nothing() {
        for bad in [
            "",
            "Wed, 99 Foo 2026",
            "sun, 06 Nov 1994 08:49:37 GMT",
            "Sun, 06 NOV 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 08:49:37 gmt",
            "Sun, 06 Nov 1994 08:49:37",
            "Sun, 06 Nov 1994 08:49:37 GMT ",
            "Sun, 06 Nov 1994 08:49:37 +0000",
            "Sun, 6 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 94 08:49:37 GMT",
            "Sunday, 06-Nov-1994 08:49:37 GMT",
            "Sun Nov 6 08:49:37 1994",
            "Sun, 30 Feb 2024 00:00:00 GMT",
            "Sun, 29 Feb 2023 00:00:00 GMT",
            "Sun, 00 Jan 2024 00:00:00 GMT",
            "Sundae, 06-Nov-94 08:49:37 GMT",
            "Su",
            "2026-11-30T00:00:00Z",
            "Sun,06 Nov 1994 08:49:37 GMT",
            "Sünday, 06-Nov-94 08:49:37 GMT",
        ] {
            assert_eq!(date(bad), None, "{bad}");
        }
        assert!(date("Sun, 29 Feb 2032 00:00:00 GMT").is_some());
    }

    fn hint(retry_after: &str) -> Option<f64> {
        let timing = Timing { retry_after: Some(retry_after), ..Timing::default() };
        // 2030-01-01T00:00:00.250Z
        Hint::read(&timing, 1_893_456_000_250.0).map(|hint| hint.wait.as_ms())
    }

    #[test]
    fn seconds_are_digits_and_nothing_else() {
        assert_eq!(hint("3"), Some(3_000.0));
        assert_eq!(hint("3 "), Some(3_000.0));
        assert_eq!(hint("007"), Some(7_000.0));
        assert_eq!(hint("2001"), Some(2_001_000.0));
        assert_eq!(hint("99999999999999999999"), Some(f64::INFINITY));
        for bad in
            ["", " ", "-3", "+3", "1.5", "1e3", "0x10", "NaN", "Infinity", "3, 5", "\u{b2}", "3s", "1 2", "٣"]
        {
            assert_eq!(hint(bad), None, "{bad}");
        }
    }

    #[test]
    fn zero_and_past_dates_ask_for_no_minimum() {
        assert_eq!(hint("0"), None);
        assert_eq!(hint("Mon, 31 Dec 2029 23:59:59 GMT"), None);
    }

    #[test]
    fn dates_count_from_the_wall_clock_and_round_up() {
        assert_eq!(hint("Tue, 01 Jan 2030 00:00:07 GMT"), Some(6_750.0));
    }

    #[test]
    fn a_broken_wall_clock_breaks_nothing() {
        let timing = Timing { retry_after: Some("Tuesday, 01-Jan-30 00:00:07 GMT"), ..Timing::default() };
        for wall_ms in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, f64::MIN, 9e18, -9e18] {
            let hint = Hint::read(&timing, wall_ms);
            assert!(hint.is_none_or(|hint| hint.wait > Span::ZERO), "{wall_ms}");
        }
    }

    #[test]
    fn the_servers_own_date_beats_a_wrong_wall_clock_unless_it_is_aged() {
        let timing = Timing {
            retry_after: Some("Tue, 01 Jan 2030 00:00:07 GMT"),
            date: Some("Tue, 01 Jan 2030 00:00:02 GMT"),
            ..Timing::default()
        };
        let ten_minutes_ahead = 1_893_456_600_000.0;
        let wait = |timing: &Timing<'_>| Hint::read(timing, ten_minutes_ahead).map(|h| h.wait.as_ms());
        assert_eq!(wait(&timing), Some(5_000.0));
        assert_eq!(wait(&Timing { aged: true, ..timing }), None);
        assert_eq!(wait(&Timing { date: Some("rubbish"), ..timing }), None);
    }

    #[test]
    fn rate_limit_headers_come_after_retry_after() {
        let read = |timing| Hint::read(&timing, 1_893_456_000_000.0).map(|h| (h.wait.as_ms(), h.source));
        let both =
            Timing { rate_limit_reset: Some("9"), x_rate_limit_reset: Some("20"), ..Timing::default() };
        assert_eq!(read(both), Some((9_000.0, HintSource::RateLimit)));
        assert_eq!(read(Timing { retry_after: Some("1.5"), ..both }), Some((9_000.0, HintSource::RateLimit)));
        assert_eq!(read(Timing { retry_after: Some("4"), ..both }), Some((4_000.0, HintSource::RetryAfter)));
        // `0` in Retry-After is an answer too: no minimum.
        assert_eq!(read(Timing { retry_after: Some("0"), ..both }), None);
        let epoch = Timing { x_rate_limit_reset: Some("1893456012"), ..Timing::default() };
        assert_eq!(read(epoch), Some((12_000.0, HintSource::RateLimit)));
        assert_eq!(
            read(Timing { rate_limit_reset: Some("-5"), ..epoch }),
            Some((12_000.0, HintSource::RateLimit))
        );
    }
}
