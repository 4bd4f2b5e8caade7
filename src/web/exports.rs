//! What JavaScript calls. Whatever is handed over as a pointer was given by [`family`] or [`policy()`], and is given back
//! once, by [`free`] or [`release_policy`]; JavaScript sees to it.
//!
//! What happens is told after [`at`], and followed by [`next`] until there is nothing left to do.

#![expect(clippy::not_unsafe_ptr_arg_deref, reason = "the caller is JavaScript, which knows no `unsafe`")]

use std::cell::Cell;
use std::sync::Arc;

use super::family::Family;
use super::{policy, told};
use crate::core::call::{Hooks, Input, Setup};
use crate::core::classify::{Outcome, Traits};
use crate::core::connectivity::Page;
use crate::core::engine::Kept;
use crate::core::hints::{Hint, HintSource, Timing};
use crate::core::keepalive::Quota;
use crate::core::policy::Policy;
use crate::core::registry::{self, CircuitId, Parked};
use crate::core::shared::{Lock, News, Stamp};
use crate::core::time::Span;

thread_local! {
    /// All clients of a page share what the browser lends to the page.
    static QUOTA: Cell<Quota> = const { Cell::new(Quota::new()) };
}

const fn page(bits: u32) -> Page {
    Page { online: bits & 1 != 0, visible: bits & 2 != 0 }
}

fn family_of<'a>(family: *mut Family) -> &'a mut Family {
    // SAFETY: see the module; nothing here calls JavaScript, so there is no other borrow.
    unsafe { &mut *family }
}

fn policy_of<'a>(policy: *const Policy) -> &'a Policy {
    // SAFETY: see the module.
    unsafe { &*policy }
}

/// A family without calls, from random bits.
#[unsafe(no_mangle)]
pub extern "C" fn family(high: u32, low: u32, mono: f64, wall: f64, bits: u32) -> *mut Family {
    let seed = u64::from(high) << 32 | u64::from(low);
    Box::into_raw(Box::new(Family::new(seed, mono, wall, page(bits))))
}

/// Lets go of all that it holds.
#[unsafe(no_mangle)]
pub extern "C" fn free(family: *mut Family) {
    // SAFETY: see the module.
    drop(unsafe { Box::from_raw(family) });
}

/// Room for so many bytes, for the next call to read.
#[unsafe(no_mangle)]
pub extern "C" fn room(family: *mut Family, bytes: u32) -> *mut f64 {
    family_of(family).room.take(bytes)
}

/// Where the rows are that [`next`], [`circuits`] and others tell of.
#[unsafe(no_mangle)]
pub extern "C" fn rows(family: *mut Family) -> *const f64 {
    family_of(family).rows.as_ptr().cast()
}

/// What both clocks say, and the page: bit 0 is online, bit 1 visible. Negative, it is not looked at.
#[unsafe(no_mangle)]
pub extern "C" fn at(family: *mut Family, mono: f64, wall: f64, bits: i32) {
    let family = family_of(family);
    family.now = family.clock.read(mono, wall);
    family.engine.advance(family.now);
    if let Ok(bits) = bits.try_into() {
        family.engine.set_page(page(bits), family.now);
    }
}

/// The next command, see [`Family::next_command`].
#[unsafe(no_mangle)]
pub extern "C" fn next(family: *mut Family) -> u32 {
    family_of(family).next_command()
}

/// A policy from the numbers in the room, then statuses and the text of methods; below zero these are the defaults.
#[unsafe(no_mangle)]
pub extern "C" fn policy(family: *mut Family, statuses: i32, methods: i32) -> *const Policy {
    let family = family_of(family);
    let room = &family.room.0;
    let (numbers, rest) = room.split_at(policy::NUMBERS.min(room.len()));
    let given = usize::try_from(statuses).ok().and_then(|count| rest.get(..count));
    let from = (policy::NUMBERS + given.map_or(0, <[f64]>::len)) * size_of::<f64>();
    Arc::into_raw(Arc::new(policy::read(numbers, given, family.text(from as u32, methods))))
}

/// A policy goes, as far as calls do not hold it.
#[unsafe(no_mangle)]
pub extern "C" fn release_policy(policy: *const Policy) {
    // SAFETY: see the module.
    drop(unsafe { Arc::from_raw(policy) });
}

/// Whether the method in the room may be sent again.
#[unsafe(no_mangle)]
pub extern "C" fn listed(family: *mut Family, policy: *const Policy, method: i32) -> bool {
    let method = family_of(family).text(0, method).unwrap_or_default();
    policy_of(policy).retry.methods.contains(method)
}

/// The place of the key in the room, or of the origin of the URL there.
#[unsafe(no_mangle)]
pub extern "C" fn resolve(family: *mut Family, policy: *const Policy, text: i32, is_url: bool) -> u32 {
    let family = family_of(family);
    let text = family.text(0, text).unwrap_or_default();
    let key: Box<str> = if is_url { registry::origin(text) } else { text }.into();
    family.engine.resolve(&key, policy_of(policy).breaker, family.now).0
}

/// Gives a call a place. Below zero it has no circuit. Traits: bit 0 listed, 1 keyed, 2 replayable; hooks: bit 0
/// `shouldRetry`, 1 `delay`, 2 `beforeRetry`.
#[unsafe(no_mangle)]
pub extern "C" fn insert(
    family: *mut Family,
    policy: *const Policy,
    circuit: i32,
    traits: u32,
    hooks: u32,
    run: u32,
) -> u32 {
    // SAFETY: see the module; the call has it from now on, too.
    let policy = unsafe {
        Arc::increment_strong_count(policy);
        Arc::from_raw(policy)
    };
    let has = |bits: u32, bit: u32| bits & bit != 0;
    let setup = Setup {
        policy,
        circuit: circuit.try_into().ok().map(CircuitId),
        traits: Traits { listed: has(traits, 1), keyed: has(traits, 2), replayable: has(traits, 4) },
        hooks: Hooks { should_retry: has(hooks, 1), delay: has(hooks, 2), before_retry: has(hooks, 4) },
        run,
    };
    family_of(family).engine.insert(setup)
}

/// How many attempts a call of this policy may make.
#[unsafe(no_mangle)]
pub extern "C" fn attempts(policy: *const Policy) -> f64 {
    let limit = policy_of(policy).retry.limit;
    if limit == u32::MAX { f64::INFINITY } else { f64::from(limit) + 1.0 }
}

/// Tells a call what happened; the numbers of `driver.ts`. True if it had an effect.
#[unsafe(no_mangle)]
pub extern "C" fn handle(family: *mut Family, slot: u32, input: u32, seq: u32, value: f64) -> bool {
    let family = family_of(family);
    let input = match input {
        0 => Input::Start,
        1 => Input::Invalid,
        2 => Input::Spent,
        3 => Input::Threw,
        4 => Input::Cancel,
        5 => Input::RetryNow,
        6 => Input::Retry,
        7 => Input::Prepared,
        8 => Input::Watch(value > 0.0),
        9 => Input::BodyRead { seq },
        10 => Input::NotAResponse { seq },
        11 => Input::ShouldRetry(answer(value)),
        12 => Input::Delay((!value.is_nan()).then(|| Span::from_ms(value))),
        13 => Input::Locked { seq, lock: lock(value) },
        _ => {
            family.engine.drop_out(slot, family.now);
            return true;
        }
    };
    family.engine.handle(slot, input, family.now)
}

/// NaN is no answer.
fn answer(value: f64) -> Option<bool> {
    (!value.is_nan()).then_some(value > 0.0)
}

fn lock(value: f64) -> Lock {
    match policy::whole(value) {
        0 => Lock::Granted,
        1 => Lock::Missing,
        _ => Lock::Taken,
    }
}

/// An attempt ended: by a status, or -1 by a failure, -2 by its limit. `failure` is what `isFailure` said, NaN nothing;
/// `hint` tells the wait that the server asks for, as [`hint`] gave it; NaN is none.
#[unsafe(no_mangle)]
pub extern "C" fn outcome(
    family: *mut Family,
    slot: u32,
    seq: u32,
    status: i32,
    failure: f64,
    wait: f64,
    limited: bool,
) -> bool {
    let family = family_of(family);
    let outcome = match status {
        -1 => Outcome::Network,
        -2 => Outcome::Timeout,
        status => {
            let source = if limited { HintSource::RateLimit } else { HintSource::RetryAfter };
            let hint = (!wait.is_nan()).then(|| Hint { wait: Span::from_ms(wait), source });
            Outcome::Answer { status: status as u16, hint }
        }
    };
    family.engine.handle(slot, Input::Outcome { seq, outcome, failure: answer(failure) }, family.now)
}

/// What the headers in the room say about coming back: their lengths, below zero where there is none. The row is the
/// wait in ms, and 1 if it is that of a rate limit. False if they say nothing.
#[unsafe(no_mangle)]
pub extern "C" fn hint(
    family: *mut Family,
    retry_after: i32,
    rate_limit_reset: i32,
    x_rate_limit_reset: i32,
    date: i32,
    aged: bool,
    wall: f64,
) -> bool {
    let family = family_of(family);
    let mut from = 0;
    let mut text = |bytes: i32| {
        let text = family.text(from, bytes);
        from += bytes.max(0) as u32;
        text
    };
    let timing = Timing {
        retry_after: text(retry_after),
        rate_limit_reset: text(rate_limit_reset),
        x_rate_limit_reset: text(x_rate_limit_reset),
        date: text(date),
        aged,
    };
    let Some(Hint { wait, source }) = Hint::read(&timing, wall) else { return false };
    let limited = told::flag(source == HintSource::RateLimit);
    family.say(told::row([wait.as_ms(), limited]));
    true
}

/// Bit 0: it is the attempt under way; bit 1: it has no outcome yet; bit 2: the call waits for its circuit.
#[unsafe(no_mangle)]
pub extern "C" fn look(family: *mut Family, slot: u32, seq: u32) -> u32 {
    let engine = &family_of(family).engine;
    let bits = [engine.is_current(slot, seq), engine.awaits(slot, seq), engine.is_queued(slot)];
    bits.iter().rev().fold(0, |bits, bit| bits << 1 | u32::from(*bit))
}

/// Whether the attempt, with a body of so many bytes, is sent with `keepalive`. Then [`release`] comes.
#[unsafe(no_mangle)]
pub extern "C" fn keep_alive(family: *mut Family, slot: u32, seq: u32, bytes: u32) -> bool {
    let mut quota = QUOTA.get();
    let kept = family_of(family).engine.keep_alive(slot, seq, bytes, &mut quota);
    QUOTA.set(quota);
    kept
}

/// An attempt that was sent with `keepalive` is over.
#[unsafe(no_mangle)]
pub extern "C" fn release(bytes: u32) {
    let mut quota = QUOTA.get();
    quota.release(bytes);
    QUOTA.set(quota);
}

/// The timer is due.
#[unsafe(no_mangle)]
pub extern "C" fn rang(family: *mut Family) {
    family_of(family).rang();
}

/// Lets everything happen that is due. True if it has to be called again after the commands.
#[unsafe(no_mangle)]
pub extern "C" fn wake(family: *mut Family) -> bool {
    let family = family_of(family);
    family.engine.wake(family.now)
}

/// Whether someone looks at the circuits or the client.
#[unsafe(no_mangle)]
pub extern "C" fn observe(family: *mut Family, observed: bool) {
    family_of(family).engine.set_observed(observed);
}

/// The row is the number of calls in each state, and when the next wait ends.
#[unsafe(no_mangle)]
pub extern "C" fn snapshot(family: *mut Family) {
    let Family { engine, clock, rows, .. } = family_of(family);
    let counts = engine.counts();
    let at = told::wall(clock, engine.next_retry_at());
    rows.clear();
    rows.push(told::row([
        counts.loading.into(),
        counts.waiting.into(),
        counts.offline.into(),
        counts.queued.into(),
        at,
    ]));
}

/// A row for each circuit. How many there are.
#[unsafe(no_mangle)]
pub extern "C" fn circuits(family: *mut Family) -> u32 {
    let Family { engine, clock, rows, now, .. } = family_of(family);
    rows.clear();
    rows.extend(engine.circuits().map(|(_, entry)| {
        let view = entry.breaker.view(*now);
        told::with_text(told::circuit(view, engine.open_for(view.status), clock), entry.key())
    }));
    rows.len() as u32
}

/// A row for each key that has something to survive a reload. How many there are.
#[unsafe(no_mangle)]
pub extern "C" fn kept(family: *mut Family) -> u32 {
    let Family { engine, clock, rows, .. } = family_of(family);
    rows.clear();
    rows.extend(engine.kept().map(|kept| told::kept(&kept, clock)));
    rows.len() as u32
}

/// Takes up an entry of it under the key in the room: for how long the circuit is still open (below zero: closed),
/// what is left of the budget (below zero: none) and its age, for how long the server wants no call, by which status.
#[unsafe(no_mangle)]
pub extern "C" fn restore(
    family: *mut Family,
    policy: *const Policy,
    key: i32,
    open: f64,
    doublings: u32,
    reason: f64,
    milli: f64,
    age: f64,
    parked: f64,
    status: u32,
) {
    let family = family_of(family);
    let key = family.key(key);
    let now = family.now;
    let reason = told::circuit_reason(reason);
    let kept = Kept {
        key: &key,
        circuit: (open >= 0.0).then(|| (now + Span::from_ms(open), doublings, reason)),
        budget: (milli >= 0.0).then(|| (policy::whole(milli), Span::from_ms(age))),
        parked: (parked > 0.0).then(|| Parked { until: now + Span::from_ms(parked), status: status as u16 }),
    };
    family.engine.restore(kept, policy_of(policy), now);
}

/// Another tab told of the key in the room; the numbers are finite, and may be any. Kind 0 asks for everything.
#[unsafe(no_mangle)]
pub extern "C" fn hear(
    family: *mut Family,
    policy: *const Policy,
    key: i32,
    kind: u32,
    tab: u32,
    a: f64,
    b: f64,
    c: f64,
    d: f64,
) {
    let family = family_of(family);
    let key = family.key(key);
    let Family { engine, clock, now, .. } = family;
    let now = *now;
    // What is over on the wall clock is over.
    let at = |wall: f64| now + Span::from_ms(wall - clock.wall_ms(now));
    let news = match kind {
        0 => return engine.tell_all(now),
        1 => News::Circuit {
            stamp: Stamp { count: policy::whole(a), tab },
            until: (b >= 0.0).then(|| at(b)),
            doublings: policy::count(c),
            reason: told::circuit_reason(d),
        },
        2 => News::Parked { until: at(a), status: policy::count(b) as u16 },
        3 => News::Budget(a as i64),
        4 => News::Left(policy::whole(a)),
        _ => News::Probe(at(a)),
    };
    engine.hear(&key, news, policy_of(policy), now);
}

/// Holds the circuit of the key in the room open by hand. Its place, or below zero where too many are held.
#[unsafe(no_mangle)]
pub extern "C" fn isolate(family: *mut Family, policy: *const Policy, key: i32) -> i32 {
    let family = family_of(family);
    let key = family.key(key);
    let breaker = policy_of(policy).breaker.unwrap_or_default();
    let id = family.engine.resolve(&key, Some(breaker), family.now);
    if family.engine.isolate(id, family.now) { id.0 as i32 } else { -1 }
}

/// Lets one hold go.
#[unsafe(no_mangle)]
pub extern "C" fn let_go(family: *mut Family, circuit: u32) {
    let family = family_of(family);
    family.engine.let_go(CircuitId(circuit), family.now);
}

/// Closes the circuit of the key in the room; below zero all.
#[unsafe(no_mangle)]
pub extern "C" fn reset(family: *mut Family, key: i32) {
    let family = family_of(family);
    let one = family.text(0, key).map(|key| family.engine.find_circuit(key));
    let ids: Vec<_> = match one {
        Some(found) => found.into_iter().collect(),
        None => family.engine.circuits().map(|(id, _)| id).collect(),
    };
    for id in ids {
        family.engine.reset(id, family.now);
    }
}
