//! Timing headers against an oracle that is written another way, and dates there and back again.
//!
//! The input is text: the wall clock in milliseconds, then one line for each header. Its first letter names it: `r`
//! Retry-After, `l` RateLimit-Reset, `x` X-RateLimit-Reset, `d` Date, `a` Age. `o` is how many seconds from the
//! wall clock the date lies that is written and read again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use steadfetch::core::hints::{Hint, HintSource, Timing, http_date};

const DAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
/// What a browser's `Date.now()` may say at most.
const LAST_MS: f64 = 8_640_000_000_000_000.0;
const FIRST: i64 = -62_167_219_200;
const LAST: i64 = 253_402_300_799;

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let mut lines = text.split('\n');
    let wall_ms = lines.next().and_then(|line| line.parse().ok()).unwrap_or(1_893_456_000_000.0);
    let mut timing = Timing::default();
    let mut offset = 0;
    for line in lines {
        let Some((name, value)) = line.split_at_checked(1) else { continue };
        match name {
            "r" => timing.retry_after = Some(value),
            "l" => timing.rate_limit_reset = Some(value),
            "x" => timing.x_rate_limit_reset = Some(value),
            "d" => timing.date = Some(value),
            "a" => timing.aged = true,
            "o" => offset = value.parse().unwrap_or(0),
            _ => {}
        }
    }
    let found = Hint::read(&timing, wall_ms).map(|hint| (hint.wait.as_ms(), hint.source));
    assert!(found.is_none_or(|(wait, _)| wait > 0.0), "no wait is no hint");
    if wall_ms.floor() == wall_ms && wall_ms.abs() <= LAST_MS {
        let expected = oracle(&timing, wall_ms as i128);
        let same = match (found, expected) {
            (Some((found, source)), Some((expected, told_by))) => source == told_by && near(found, expected),
            (None, None) => true,
            _ => false,
        };
        assert!(same, "{found:?}, expected {expected:?} of {timing:?} at {wall_ms}");
        there_and_back((wall_ms / 1_000.0).floor() as i64, offset);
    }
});

/// Exact as long as a float can be; `None` is for ever.
fn near(found: f64, expected: Option<i128>) -> bool {
    match expected {
        None => found.is_infinite(),
        Some(ms) if ms < 1 << 43 => found == ms as f64,
        Some(ms) if found.is_infinite() => ms as f64 > u64::MAX as f64 / 1_000.0 * (1.0 - 1e-12),
        Some(ms) => (found - ms as f64).abs() <= ms as f64 * 1e-12,
    }
}

// ---------------------------------------------------------------- the oracle

/// Milliseconds and who told.
fn oracle(timing: &Timing<'_>, wall_ms: i128) -> Option<(Option<i128>, HintSource)> {
    let server = timing.date.filter(|_| !timing.aged);
    let server = server.and_then(|date| date_of(bare(date), wall_ms.div_euclid(1_000) as i64));
    let now_ms = server.map_or(wall_ms, |at| i128::from(at) * 1_000);
    let until = |at: i128| at * 1_000 - now_ms;
    let mut told = None;
    if let Some(value) = timing.retry_after.map(bare) {
        let date = || date_of(value, now_ms.div_euclid(1_000) as i64).map(|at| until(at.into()));
        told = number_of(value).map(|s| s * 1_000).or_else(date).map(|ms| (ms, HintSource::RetryAfter));
    }
    for value in [timing.rate_limit_reset, timing.x_rate_limit_reset] {
        let number = value.map(bare).and_then(number_of).filter(|_| told.is_none());
        if let Some(number) = number {
            let ms = if number < 1_000_000_000 { number * 1_000 } else { until(number) };
            told = Some((ms, HintSource::RateLimit));
        }
    }
    let (ms, source) = told?;
    // The core counts microseconds in 64 bits.
    let clipped = if ms * 1_000 >= i128::from(u64::MAX) { None } else { Some(ms) };
    (ms > 0).then_some((clipped, source))
}

fn bare(value: &str) -> &str {
    value.trim_matches([' ', '\t'])
}

/// Of digits alone; beyond any clock all are the same.
fn number_of(text: &str) -> Option<i128> {
    let all = !text.is_empty() && text.chars().all(|c| "0123456789".contains(c));
    let digits = text.trim_start_matches('0');
    all.then(|| if digits.len() > 25 { i128::pow(10, 25) } else { digits.parse().unwrap_or(0) })
}

/// Splits at the spaces, where the parser reads byte for byte.
fn date_of(text: &str, now: i64) -> Option<i64> {
    let parts: Vec<&str> = text.split(' ').collect();
    match parts[..] {
        [weekday, day, month, year, time, "GMT"] if weekday.ends_with(',') => {
            day_of(weekday.strip_suffix(',')?, 3)?;
            moment_of(fixed(year, 4)?, month, fixed(day, 2)?, time)
        }
        [weekday, date, time, "GMT"] => {
            day_of(weekday.strip_suffix(',')?, usize::MAX)?;
            let parts: Vec<&str> = date.split('-').collect();
            let [day, month, year] = parts[..] else { return None };
            let (day, two) = (fixed(day, 2)?, fixed(year, 2)?);
            moment_of(year_of(two, month, day, time, now)?, month, day, time)
        }
        [weekday, month, "", day, time, year] => {
            day_of(weekday, 3)?;
            moment_of(fixed(year, 4)?, month, fixed(day, 1)?, time)
        }
        [weekday, month, day, time, year] => {
            day_of(weekday, 3)?;
            moment_of(fixed(year, 4)?, month, fixed(day, 2)?, time)
        }
        _ => None,
    }
}

fn day_of(name: &str, letters: usize) -> Option<()> {
    DAYS.iter().any(|day| name == &day[..letters.min(day.len())]).then_some(())
}

fn fixed(text: &str, width: usize) -> Option<i64> {
    if text.len() == width { number_of(text).map(|number| number as i64) } else { None }
}

fn month_of(name: &str) -> Option<i64> {
    (1..).zip(MONTHS).find(|(_, month)| *month == name).map(|(number, _)| number)
}

fn time_of(text: &str) -> Option<i64> {
    let parts: Vec<&str> = text.split(':').collect();
    let [hour, minute, second] = parts[..] else { return None };
    let (hour, minute, second) = (fixed(hour, 2)?, fixed(minute, 2)?, fixed(second, 2)?);
    (hour <= 23 && minute <= 59 && second <= 60).then_some(hour * 3_600 + minute * 60 + second)
}

fn leap(year: i64) -> bool {
    year.rem_euclid(4) == 0 && (year.rem_euclid(100) != 0 || year.rem_euclid(400) == 0)
}

fn month_length(year: i64, month: i64) -> i64 {
    let february = if leap(year) { 29 } else { 28 };
    [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month as usize - 1]
}

/// Days from 1970 to the first of January.
fn new_year(year: i64) -> i64 {
    let leaps = |y: i64| (y - 1).div_euclid(4) - (y - 1).div_euclid(100) + (y - 1).div_euclid(400);
    (year - 1970) * 365 + leaps(year) - leaps(1970)
}

fn moment_of(year: i64, month: &str, day: i64, time: &str) -> Option<i64> {
    let (month, time) = (month_of(month)?, time_of(time)?);
    if day < 1 || day > month_length(year, month) {
        return None;
    }
    let days = new_year(year) + (1..month).map(|m| month_length(year, m)).sum::<i64>() + day - 1;
    Some(days * 86_400 + time)
}

/// Year, month, day and second of the day.
fn calendar(at: i64) -> (i64, i64, i64, i64) {
    let days = at.div_euclid(86_400);
    let mut year = 1970 + days.div_euclid(366);
    while new_year(year + 1) <= days {
        year += 1;
    }
    while new_year(year) > days {
        year -= 1;
    }
    let (mut month, mut day) = (1, days - new_year(year));
    while day >= month_length(year, month) {
        day -= month_length(year, month);
        month += 1;
    }
    (year, month, day + 1, at.rem_euclid(86_400))
}

/// Compares calendars, where the parser compares seconds: the last year with these digits in which the same day
/// and time 50 years before is not in the future.
fn year_of(two: i64, month: &str, day: i64, time: &str, now: i64) -> Option<i64> {
    let (this_year, this_month, this_day, this_time) = calendar(now.clamp(FIRST, LAST));
    let (month, time) = (month_of(month)?, time_of(time)?);
    let before = |year: i64| {
        // The leap day of a year that has none is the day after.
        let (month, day) = if (month, day) == (2, 29) && !leap(year - 50) { (3, 1) } else { (month, day) };
        (year - 50, month, day, time) <= (this_year, this_month, this_day, this_time)
    };
    (this_year - 60..=this_year + 60).rev().find(|&year| year.rem_euclid(100) == two && before(year))
}

// ---------------------------------------------------------------- there and back

fn there_and_back(now: i64, offset: i64) {
    let at = now.saturating_add(offset);
    if !(FIRST..=LAST).contains(&now) || !(FIRST..=LAST).contains(&at) {
        return;
    }
    let (year, month, day, second) = calendar(at);
    let weekday = DAYS[(at.div_euclid(86_400) + 4).rem_euclid(7) as usize];
    let (short, month) = (&weekday[..3], MONTHS[month as usize - 1]);
    let time = format!("{:02}:{:02}:{:02}", second / 3_600, second / 60 % 60, second % 60);
    let read = |text: String| assert_eq!(http_date(text.as_bytes(), now), Some(at), "{text}");
    read(format!("{short}, {day:02} {month} {year:04} {time} GMT"));
    read(format!("{short} {month} {day:2} {time} {year:04}"));
    let years = 49 * 365 * 86_400;
    if (-years..=years).contains(&(at - now)) {
        read(format!("{weekday}, {day:02}-{month}-{:02} {time} GMT", year % 100));
    }
}
