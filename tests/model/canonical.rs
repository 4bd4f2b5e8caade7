//! States that differ only by what decides nothing are one: times count from now, epochs and names of attempts only
//! by whether they are the present ones. The form is taken from the `Debug` text of the real types, so that a field
//! that is added to them is part of it unless it is left out here by name.

use std::cell::RefCell;
use std::fmt::{Debug, Write as _};
use std::hash::{DefaultHasher, Hasher as _};

use steadfetch::core::time::{Instant, Span};

/// What else there is to know for it.
#[derive(Clone, Copy, Debug)]
pub struct Present<'a> {
    pub now: Instant,
    /// The epoch of the only circuit.
    pub epoch: u64,
    /// A run of failures that is longer than this is as long.
    pub longest_run: u64,
    /// The slice of the window that it is.
    pub slice: u64,
    /// Fields that decide nothing here.
    pub without: &'a [&'a str],
}

/// Beyond this a bucket is full and a crowd has gone.
const PAST: i128 = 100_000_000;

thread_local! {
    static TEXT: RefCell<String> = const { RefCell::new(String::new()) };
}

pub fn fingerprint(value: &impl Debug, rest: &impl Debug, present: Present<'_>) -> u64 {
    TEXT.with_borrow_mut(|text| {
        text.clear();
        let _ = write!(text, "{value:?}");
        let mut form = form(text, present);
        let _ = write!(form, "{rest:?}");
        let mut hasher = DefaultHasher::new();
        hasher.write(form.as_bytes());
        hasher.finish()
    })
}

/// The text in its canonical form.
pub fn form(text: &str, present: Present<'_>) -> String {
    let now = micros(present.now);
    let due = overdue(text, now);
    let mut out = String::with_capacity(text.len() / 4);
    let mut probes: Vec<u64> = vec![0];
    let mut field = "";
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if first.is_ascii_alphabetic() || first == '_' {
            let (word, after) = split(rest, |c| c.is_ascii_alphanumeric() || c == '_');
            if let Some(value) = after.strip_prefix(": ") {
                field = word;
                rest = value;
                if present.without.contains(&word) {
                    rest = skip(rest);
                    continue;
                }
                out.push_str(word);
                out.push(':');
                if let (
                    "epoch" | "seen" | "probe" | "number" | "consecutive" | "newest",
                    Some((number, after)),
                ) = (word, number(rest))
                {
                    let kept = match word {
                        "epoch" | "seen" => u64::from(number != present.epoch),
                        // In ten slices everything has left the window.
                        "newest" => present.slice.saturating_sub(number).min(10),
                        "consecutive" => number.min(present.longest_run),
                        _ => probes.iter().position(|&known| known == number).unwrap_or_else(|| {
                            probes.push(number);
                            probes.len() - 1
                        }) as u64,
                    };
                    let _ = write!(out, "{kept}");
                    rest = after;
                }
                continue;
            }
            rest = after;
            if word == "Instant"
                && let Some((at, after)) = rest.strip_prefix('(').and_then(number)
            {
                rest = after;
                let from_now = i128::from(at) - i128::from(now);
                let _ = match field {
                    _ if at == u64::MAX => write!(out, "(never"),
                    "filled" | "began" => write!(out, "({}", from_now.max(-PAST)),
                    "heap" if from_now <= 0 => write!(out, "(due {:?}", due.binary_search(&at)),
                    _ if from_now <= 0 => write!(out, "(past"),
                    _ => write!(out, "({from_now}"),
                };
                continue;
            }
            out.push_str(word);
            // Which doing it is of an outbox only grows.
            if let "Looking" | "Writing" = word
                && let Some((_, after)) = rest.strip_prefix('(').and_then(number)
            {
                rest = after;
                out.push('(');
            }
        } else {
            out.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    out
}

/// The deadlines that have passed, in their order: that is the order in which they will be seen to.
fn overdue(text: &str, now: u64) -> Vec<u64> {
    let mut due = Vec::new();
    for heap in text.split("heap: [").skip(1) {
        let heap = heap.split(']').next().unwrap_or_default();
        let times = heap.split("Instant(").skip(1).filter_map(number);
        due.extend(times.map(|(at, _)| at).filter(|at| *at <= now));
    }
    due.sort_unstable();
    due.dedup();
    due
}

pub fn micros(at: Instant) -> u64 {
    (at - Instant::default()).in_steps(Span::from_ms(0.001))
}

fn split(text: &str, within: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(|c| !within(c)).unwrap_or(text.len()))
}

fn number(text: &str) -> Option<(u64, &str)> {
    let (digits, rest) = split(text, |c| c.is_ascii_digit());
    Some((digits.parse().ok()?, rest))
}

/// Past one value, up to the comma or the bracket that ends it.
fn skip(text: &str) -> &str {
    let mut depth = 0;
    let mut quoted = false;
    for (at, c) in text.char_indices() {
        match c {
            '"' => quoted = !quoted,
            _ if quoted => {}
            '{' | '[' | '(' => depth += 1,
            ',' | '}' | ']' | ')' | ' ' if depth == 0 && (c != ' ' || text[at..].starts_with(" }")) => {
                return &text[at..];
            }
            '}' | ']' | ')' => depth -= 1,
            _ => {}
        }
    }
    ""
}
