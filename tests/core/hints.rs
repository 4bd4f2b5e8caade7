//! `hints.tsv`: what servers say about when to come back, with the right answers.

use std::fmt::Write;

use steadfetch::core::hints::{Hint, HintSource, Timing};
use steadfetch::core::time::Span;

const CORPUS: &str = include_str!("hints.tsv");

/// Milliseconds since 1970 of `2030-01-01T00:00:00.250Z`, counted year by year and month by month.
fn moment(iso: &str) -> f64 {
    let number = |from: usize, to: usize| iso[from..to].parse::<i64>().expect("a moment as in ISO 8601");
    let leap = |year: i64| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let year = number(0, 4);
    let mut days: i64 = (1970..year).map(|y| 365 + i64::from(leap(y))).sum();
    days -= (year..1970).map(|y| 365 + i64::from(leap(y))).sum::<i64>();
    let february = 28 + i64::from(leap(year));
    let months = [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    days += months.iter().take(number(5, 7) as usize - 1).sum::<i64>() + number(8, 10) - 1;
    let seconds = days * 86_400 + number(11, 13) * 3_600 + number(14, 16) * 60 + number(17, 19);
    let fraction = iso.get(20..23).map_or(0, |ms| ms.parse().expect("milliseconds"));
    (seconds * 1_000 + fraction) as f64
}

/// Resolves `\t` and `\u{20}`.
fn unescaped(text: &str) -> String {
    let mut parts = text.split('\\');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (code, rest) = match part.strip_prefix("u{") {
            Some(part) => part.split_once('}').expect("an escape has an end"),
            None => ("9", part.strip_prefix('t').expect("no other escape")),
        };
        plain.push(u32::from_str_radix(code, 16).ok().and_then(char::from_u32).expect("a character"));
        plain.push_str(rest);
    }
    plain
}

type Answer = Option<(Span, HintSource)>;

/// What the line expects, and what comes of it.
fn look_at(line: &str) -> (Answer, Answer) {
    let mut columns = line.split('\t');
    let [wait, by, now, _why] = [(); 4].map(|()| columns.next().expect("four columns before the headers"));
    let headers: Vec<(&str, String)> = columns
        .map(|header| header.split_once(": ").expect("a name and a value"))
        .map(|(name, value)| (name, unescaped(value)))
        .collect();
    let names = ["Retry-After", "RateLimit-Reset", "X-RateLimit-Reset", "Date", "Age"];
    assert!(headers.iter().all(|(name, _)| names.contains(name)), "an unknown header");
    let get = |wanted| headers.iter().find(|(name, _)| *name == wanted).map(|(_, value)| value.as_str());
    let [retry_after, rate_limit_reset, x_rate_limit_reset, date, age] = names.map(get);
    let timing = Timing { retry_after, rate_limit_reset, x_rate_limit_reset, date, aged: age.is_some() };
    let now = moment(now);
    let found = Hint::read(&timing, now).map(|hint| (hint.wait, hint.source));
    let span = match (wait, wait.strip_prefix('@')) {
        ("none", _) => None,
        ("forever", _) => Some(Span::MAX),
        (_, Some(until)) => Some(Span::from_ms(moment(until) - now)),
        (ms, None) => Some(Span::from_ms(ms.parse().expect("milliseconds"))),
    };
    let source = match by {
        "retry-after" => Some(HintSource::RetryAfter),
        "rate-limit" => Some(HintSource::RateLimit),
        _ => None,
    };
    (span.zip(source), found)
}

fn lines() -> impl Iterator<Item = (usize, &'static str)> {
    (1..).zip(CORPUS.lines()).filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
}

#[test]
fn every_line_of_the_corpus_has_its_answer() {
    let mut wrong = String::new();
    for (number, line) in lines() {
        let (expected, found) = look_at(line);
        if expected != found {
            writeln!(wrong, "hints.tsv:{number}: {line:?}\n   expected {expected:?}\n   found    {found:?}")
                .expect("a string takes everything");
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn the_corpus_says_nothing_twice() {
    let mut seen = std::collections::BTreeMap::new();
    for (number, line) in lines() {
        // All but the answer and what it is about.
        let columns: Vec<&str> = line.split('\t').collect();
        if let Some(before) = seen.insert((columns[2], columns[4..].to_vec()), number) {
            panic!("hints.tsv:{number}: as in line {before}");
        }
    }
    assert!(seen.len() >= 80);
}
