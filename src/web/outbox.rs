//! What JavaScript calls for an outbox, which it got from [`outbox()`] and never gives back: a page has few, and for good.
//!
//! What happens is told after [`outbox_at`], and followed by [`outbox_next`] until there is nothing left to do. Moments
//! are on the wall clock, in milliseconds.

use super::room::Room;
use crate::core::outbox::lease::{self, Lease};
use crate::core::outbox::stamps;
use crate::core::outbox::{
    Cause, Change, Command, Limits, Look, Outbox, Outcome, Phase, Refusal, Stored, Turn, View,
};
use crate::core::time::{Clock, Instant, Span};

/// An outbox, its clock, and the commands that JavaScript has not taken yet.
pub struct Box_ {
    outbox: Outbox,
    clock: Clock,
    now: Instant,
    wall: f64,
    room: Room,
    row: [f64; 5],
    commands: Vec<Command>,
    taken: usize,
}

fn of<'a>(outbox: *mut Box_) -> &'a mut Box_ {
    // SAFETY: JavaScript has it from [`outbox()`]; nothing here calls JavaScript, so there is no other borrow.
    unsafe { &mut *outbox }
}

/// As a whole number that saturates.
const fn whole(number: f64) -> u64 {
    number as u64
}

/// An outbox without entries, from random bits. Ages in ms.
#[unsafe(no_mangle)]
pub extern "C" fn outbox(
    high: u32,
    low: u32,
    mono: f64,
    wall: f64,
    max_age: f64,
    max_entries: f64,
    max_bytes: f64,
    stop_on_rejected: bool,
) -> *mut Box_ {
    let limits = Limits {
        max_age: Span::from_ms(max_age),
        max_entries: max_entries as u32,
        max_bytes: whole(max_bytes),
        stop_on_rejected,
    };
    Box::into_raw(Box::new(Box_ {
        outbox: Outbox::new(limits, u64::from(high) << 32 | u64::from(low)),
        clock: Clock::new(mono, wall),
        now: Instant::default(),
        wall,
        room: Room::default(),
        row: [0.0; 5],
        commands: Vec::new(),
        taken: 0,
    }))
}

/// Room for so many bytes, for the next call to read.
#[unsafe(no_mangle)]
pub extern "C" fn outbox_room(outbox: *mut Box_, bytes: u32) -> *mut f64 {
    of(outbox).room.take(bytes)
}

/// Where the row is that [`outbox_next`] tells of.
#[unsafe(no_mangle)]
pub extern "C" fn outbox_row(outbox: *mut Box_) -> *const f64 {
    of(outbox).row.as_ptr()
}

/// What both clocks say.
#[unsafe(no_mangle)]
pub extern "C" fn outbox_at(outbox: *mut Box_, mono: f64, wall: f64) {
    let all = of(outbox);
    all.now = all.clock.read(mono, wall);
    all.wall = wall;
    all.outbox.advance(all.now, Instant::from_ms(mono));
}

/// Whether a body of so many bytes may be stored: 0 yes, 1 never, 2 not now.
#[unsafe(no_mangle)]
pub extern "C" fn outbox_admit(outbox: *mut Box_, bytes: f64) -> u32 {
    match of(outbox).outbox.admit(whole(bytes)) {
        Ok(()) => 0,
        Err(Refusal::TooLarge) => 1,
        Err(Refusal::Full) => 2,
    }
}

/// An entry that is in the store, in the queue whose name is in the room. Its slot.
#[unsafe(no_mangle)]
pub extern "C" fn outbox_add(
    outbox: *mut Box_,
    queue: i32,
    id: f64,
    bytes: f64,
    created: f64,
    not_before: f64,
    delay: f64,
    rejected: bool,
) -> u32 {
    let Box_ { outbox, room, clock, now, wall, .. } = of(outbox);
    outbox.add(Stored {
        id: whole(id),
        queue: room.text(0, queue).unwrap_or_default(),
        bytes: whole(bytes),
        age: stamps::age(created, *wall),
        wait: stamps::wait(clock.moment(not_before) - *now, delay),
        rejected,
    })
}

const CHANGES: [Change; 5] =
    [Change::Deliver, Change::Expire, Change::Cancel, Change::Reject, Change::Revive];

fn number_of(change: Change) -> f64 {
    CHANGES.iter().position(|other| *other == change).unwrap_or(0) as f64
}

/// Another tab took it out of the store, by the number of a change.
#[unsafe(no_mangle)]
pub extern "C" fn outbox_removed(outbox: *mut Box_, slot: u32, change: u32) {
    let change = CHANGES.get(change as usize).copied().unwrap_or(Change::Deliver);
    of(outbox).outbox.removed(slot, change);
}

/// Another tab made it a dead letter, or took it up again.
#[unsafe(no_mangle)]
pub extern "C" fn outbox_marked(outbox: *mut Box_, slot: u32, rejected: bool) {
    of(outbox).outbox.marked(slot, rejected);
}

/// What the store has of its wait.
#[unsafe(no_mangle)]
pub extern "C" fn outbox_noted(outbox: *mut Box_, slot: u32, not_before: f64, delay: f64) {
    let Box_ { outbox, clock, now, .. } = of(outbox);
    outbox.noted(slot, stamps::wait(clock.moment(not_before) - *now, delay));
}

/// Whether this tab is the sender; if not, whether its requests are called back.
#[unsafe(no_mangle)]
pub extern "C" fn outbox_sender(outbox: *mut Box_, sender: bool, abort: bool) {
    of(outbox).outbox.set_sender(sender, abort);
}

/// Whether it is paused.
#[unsafe(no_mangle)]
pub extern "C" fn outbox_paused(outbox: *mut Box_, paused: bool) {
    of(outbox).outbox.set_paused(paused);
}

/// What the store has at the head: 0 the entry, 1 another, 2 it is gone since it was delivered, 3 gone otherwise, 4 barred,
/// 5 the store failed.
#[unsafe(no_mangle)]
pub extern "C" fn outbox_looked(outbox: *mut Box_, slot: u32, token: u32, look: u32) {
    let look = match look {
        0 => Look::Found,
        1 => Look::Another,
        2 => Look::Gone(Change::Deliver),
        3 => Look::Gone(Change::Cancel),
        4 => Look::Barred,
        _ => Look::Failed,
    };
    of(outbox).outbox.looked(Turn { slot, token }, look);
}

/// What the client does with it: 0 loads, 1 is offline, 2 waits for its backoff, 3 as the server said, 4 for a circuit.
#[unsafe(no_mangle)]
pub extern "C" fn outbox_phase(outbox: *mut Box_, slot: u32, token: u32, phase: u32, until: f64) {
    let Box_ { outbox, clock, .. } = of(outbox);
    let until = if until.is_finite() { clock.moment(until) } else { Instant::NEVER };
    let phase = match phase {
        0 => Phase::Loading,
        1 => Phase::Offline,
        2 => Phase::Waiting { until, cause: Cause::Backoff },
        3 => Phase::Waiting { until, cause: Cause::Server },
        _ => Phase::Waiting { until, cause: Cause::Circuit },
    };
    outbox.phase(Turn { slot, token }, phase);
}

/// How it ended: by a status, or -1 unanswered, -2 no request can be made. `until` is when the server wants it again.
#[unsafe(no_mangle)]
pub extern "C" fn outbox_ended(outbox: *mut Box_, slot: u32, token: u32, status: i32, until: f64) {
    let Box_ { outbox, clock, now, .. } = of(outbox);
    let outcome = match status {
        -1 => Outcome::Failed,
        -2 => Outcome::Invalid,
        status => Outcome::Answer(status as u16),
    };
    outbox.ended(Turn { slot, token }, outcome, clock.moment(until) - *now);
}

/// Whether what was to be written is.
#[unsafe(no_mangle)]
pub extern "C" fn outbox_wrote(outbox: *mut Box_, slot: u32, token: u32, written: bool) {
    of(outbox).outbox.wrote(Turn { slot, token }, written);
}

/// Takes it back. False where it is too late.
#[unsafe(no_mangle)]
pub extern "C" fn outbox_cancel(outbox: *mut Box_, slot: u32) -> bool {
    of(outbox).outbox.cancel(slot)
}

/// A click. False if it has no effect.
#[unsafe(no_mangle)]
pub extern "C" fn outbox_retry_now(outbox: *mut Box_, slot: u32) -> bool {
    of(outbox).outbox.retry_now(slot)
}

/// Every head goes on now.
#[unsafe(no_mangle)]
pub extern "C" fn outbox_flush(outbox: *mut Box_) {
    of(outbox).outbox.flush();
}

/// Lets everything happen that is due.
#[unsafe(no_mangle)]
pub extern "C" fn outbox_wake(outbox: *mut Box_) {
    of(outbox).outbox.wake();
}

/// Whether all that is left waits.
#[unsafe(no_mangle)]
pub extern "C" fn outbox_quiet(outbox: *mut Box_) -> bool {
    let Box_ { outbox, commands, taken, .. } = of(outbox);
    *taken == commands.len() && outbox.is_quiet()
}

/// The end of the lease that this tab takes now, of one that is another's (0), its own (1) or not there (2); NaN while
/// another tab has it.
#[unsafe(no_mangle)]
pub extern "C" fn outbox_lease(whose: u32, until: f64, wall: f64) -> f64 {
    let held = (whose < 2).then_some(Lease { mine: whose == 1, until });
    lease::take(held, wall).unwrap_or(f64::NAN)
}

/// The next command: 1 look, 2 send, 3 abort, 4 nudge, 5 write, 6 note, 7 tell, 8 over, 9 ask. The row is the slot, and
/// the token of the first five; then which change it is, or until when and for how long, or the view and until when and
/// why. 0 when there is none: then the row is how long the timer runs, below zero not at all.
#[unsafe(no_mangle)]
pub extern "C" fn outbox_next(outbox: *mut Box_) -> u32 {
    let Box_ { outbox, clock, row, commands, taken, .. } = of(outbox);
    if *taken == commands.len() {
        commands.clear();
        *taken = 0;
        outbox.take_commands(commands);
    }
    let Some(&command) = commands.get(*taken) else {
        row[0] = outbox.next_timeout().map_or(-1.0, |span| span.as_ms().ceil().min(f64::from(i32::MAX)));
        return 0;
    };
    *taken += 1;
    let turn = |Turn { slot, token }: Turn| [slot.into(), token.into(), 0.0, 0.0, 0.0];
    let (kind, told) = match command {
        Command::Look(which) => (1, turn(which)),
        Command::Send(which) => (2, turn(which)),
        Command::Abort(which) => (3, turn(which)),
        Command::Nudge(which) => (4, turn(which)),
        Command::Write(Turn { slot, token }, change) => {
            (5, [slot.into(), token.into(), number_of(change), 0.0, 0.0])
        }
        Command::Note(slot, until, delay) => {
            (6, [slot.into(), 0.0, clock.wall_ms(until), delay.as_ms(), 0.0])
        }
        Command::Tell(slot, view) => {
            let (number, until, cause) = match view {
                View::Queued => (0, None, 0),
                View::Sending => (1, None, 0),
                View::Waiting { until, cause } => (2, Some(until), cause as u32),
                View::Offline => (3, None, 0),
                View::Rejected => (4, None, 0),
            };
            let until = until.map_or(f64::INFINITY, |until| clock.wall_ms(until));
            (7, [slot.into(), 0.0, number.into(), until, cause.into()])
        }
        Command::Over(slot, change) => (8, [slot.into(), 0.0, number_of(change), 0.0, 0.0]),
        Command::Ask(slot) => (9, [slot.into(), 0.0, 0.0, 0.0, 0.0]),
    };
    *row = told;
    kind
}
